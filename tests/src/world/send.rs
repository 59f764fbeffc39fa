//! How a test speaks to its first host: events in, operators' requests.

use serde_json::{Value as Json, json};

use super::World;

/// The content type of an event in its structured form.
pub const CLOUDEVENT: (&str, &str) = ("content-type", "application/cloudevents+json");

/// A response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// Null when the body is no JSON.
    pub body: Json,
}

impl Answer {
    /// The verdict of the only delivery.
    #[must_use]
    pub fn verdict(&self) -> &str {
        self.body["deliveries"][0]["verdict"].as_str().unwrap_or("")
    }
}

pub(super) fn client() -> reqwest::Client {
    // A host in this process may have been faster; either way there is one.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

impl World {
    /// Sends the probe a script as an event of the source `lab`.
    pub async fn probe(&self, id: &str, script: Json) -> Answer {
        self.event("probe.run", id, script).await
    }

    /// Sends the first host a CloudEvent of the source `lab`.
    pub async fn event(&self, event_type: &str, id: &str, data: Json) -> Answer {
        self.event_to(0, event_type, id, data).await
    }

    /// Sends one of the hosts a CloudEvent.
    pub async fn event_to(&self, host: usize, event_type: &str, id: &str, data: Json) -> Answer {
        let event =
            json!({"specversion": "1.0", "id": id, "source": "/lab", "type": event_type, "data": data});
        let url = format!("http://{}/events/lab", self.hosts[host].http);
        answer(self.http.post(url).header(CLOUDEVENT.0, CLOUDEVENT.1).body(event.to_string())).await
    }

    /// Sends any request to a source's door.
    pub async fn post(
        &self,
        source: &str,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> Answer {
        let url = format!("http://{}/events/{source}", self.hosts[0].http);
        let mut request = self.http.post(url).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(request).await
    }

    /// Sends data in the binary form, which carries any bytes.
    pub async fn binary(&self, id: &str, content_type: &str, data: impl Into<reqwest::Body>) -> Answer {
        let headers = [
            ("ce-specversion", "1.0"),
            ("ce-id", id),
            ("ce-source", "/lab"),
            ("ce-type", "probe.run"),
            ("content-type", content_type),
        ];
        self.post("lab", &headers, data).await
    }

    /// Asks the first host's admin API.
    pub async fn admin_get(&self, path: &str) -> Answer {
        answer(self.http.get(self.admin(path))).await
    }

    /// Tells the first host's admin API.
    pub async fn admin_post(&self, path: &str, body: Json) -> Answer {
        answer(self.http.post(self.admin(path)).json(&body)).await
    }

    /// Changes what was read under a tag, at the first host's admin API.
    pub async fn admin_patch_read(&self, path: &str, tag: &str, body: Json) -> Answer {
        answer(self.http.patch(self.admin(path)).header("if-match", tag).json(&body)).await
    }

    /// Tells the first host's admin API with a request that has a name.
    pub async fn admin_post_named(&self, path: &str, name: &str, body: Json) -> Answer {
        answer(self.http.post(self.admin(path)).header("idempotency-key", name).json(&body)).await
    }

    fn admin(&self, path: &str) -> String {
        let address = self.hosts[0].admin.expect("the test's hosts listen on loopback");
        format!("http://{address}{path}")
    }
}

async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.expect("the host answers");
    let status = response.status().as_u16();
    let body = response.bytes().await.expect("the whole answer");
    Answer { status, body: serde_json::from_slice(&body).unwrap_or_default() }
}
