//! Dead letters by cause, and one with all that is known of it.

use crate::api::{ask, get, state};
use crate::world::{World, by};
use wonce_host::admin::router;

#[tokio::test]
async fn groups_say_how_many_since_when_and_on_which_versions() {
    let world = World::new().await;
    let (pay, ship) = (world.handler("pay", "unordered").await, world.handler("ship", "unordered").await);
    for key in ["a", "b", "c"] {
        world.accept(pay, key, None, b"{}").await;
        world.dies(pay, key).await;
    }
    world.accept(ship, "s", None, b"{}").await;
    world.dies(ship, "s").await;
    let change = "UPDATE wonce.dead_letter SET fingerprint = 'beef' WHERE key = 's';
        UPDATE wonce.dead_letter SET version = sha256('v2') WHERE key = 'c';
        UPDATE wonce.dead_letter SET first_failed_at = now() - interval '2 days', last_failed_at = now() - interval '1 day'
        WHERE key = 'a'";
    world.client().await.batch_execute(change).await.expect("it works");
    let router = router(state(&world, None));
    let (_, _, page) = ask(&router, get("/v1/dead-letter-groups")).await;
    let groups = page["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 2, "{page}");
    assert_eq!(
        (groups[0]["fingerprint"].as_str(), groups[0]["handler"].as_str()),
        (Some("beef"), Some("ship"))
    );
    let pays = &groups[1];
    assert_eq!(
        (pays["entries"].to_string(), pays["last_hour"].to_string()),
        ("3".to_owned(), "2".to_owned())
    );
    assert_eq!((pays["reason"].as_str(), pays["code"].as_str()), (Some("permanent"), Some("cancelled")));
    assert!(pays["first_failed_at"].as_str() < pays["last_failed_at"].as_str(), "{pays}");
    let versions: Vec<String> =
        pays["versions"].as_array().expect("versions").iter().map(|v| v["entries"].to_string()).collect();
    assert_eq!(versions, ["2", "1"]);

    let (_, _, first) = ask(&router, get("/v1/dead-letter-groups?limit=1")).await;
    let next = format!("/v1/dead-letter-groups?limit=1&before={}", first["next_before"]);
    let (_, _, second) = ask(&router, get(&next)).await;
    assert_eq!(second["groups"][0]["fingerprint"], "f00d");
    assert!(second["next_before"].is_null());
    let (_, _, narrow) = ask(&router, get("/v1/dead-letter-groups?handler=pay&key_prefix=c")).await;
    assert_eq!(narrow["groups"][0]["entries"].to_string(), "1");
    let (_, _, entries) = ask(&router, get("/v1/dead-letters?fingerprint=f00d&limit=2")).await;
    assert_eq!((entries["total"].to_string().as_str(), entries["as_of"].to_string().as_str()), ("3", "4"));
    world.close().await;
}

#[tokio::test]
async fn a_dead_letter_shows_what_became_of_its_delivery_and_who_did_it() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"{}").await;
    world.dies(pay, "a").await;
    let letter = world.letter("a", "delivery").await;
    let shown = async || world.store.dead_letter(letter).await.expect("it works").expect("it is there");
    assert_eq!(shown().await.standing.as_deref(), Some("dead"));
    world.store.replay(letter, None, &by()).await.expect("it works").expect("it works");
    assert_eq!(shown().await.standing.as_deref(), Some("pending"));
    world.done(pay, "a").await;
    let detail = shown().await;
    assert_eq!(detail.standing.as_deref(), Some("done"));
    assert_eq!(detail.effects.len(), 1);
    assert_eq!((detail.actions[0].verb.as_str(), detail.actions[0].actor.as_str()), ("replay", "ada"));
    world.close().await;
}
