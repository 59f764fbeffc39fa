//! Which account runs `initdb` and `postgres`: PostgreSQL refuses root, so root needs somebody else. It knows
//! the password file's lines and nothing about folders or processes.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The accounts root tries, best first.
const USUAL: [&str; 2] = ["postgres", "nobody"];
const PASSWD: &str = "/etc/passwd";

/// Why no account can run the server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The list of accounts could not be read.
    #[error("cannot read the list of users in \"{PASSWD}\"")]
    Passwd(#[source] io::Error),
    /// Root found nobody to run the server as.
    #[error(
        "PostgreSQL refuses to run as root, and neither of the users \"postgres\" and \"nobody\" exists; create \
         one (`useradd --system postgres`), name another with database.embedded.user, or do not run wonce as root"
    )]
    Nobody,
    /// The requested account does not exist.
    #[error(
        "there is no user \"{name}\" to run PostgreSQL; create it (`useradd --system {name}`) or change database.embedded.user"
    )]
    Unknown {
        /// The account.
        name: String,
    },
    /// The requested account is root.
    #[error(
        "PostgreSQL refuses to run as \"{name}\" because that is root; name another user with database.embedded.user"
    )]
    Root {
        /// The account.
        name: String,
    },
    /// Only root can become somebody else.
    #[error(
        "only root can run PostgreSQL as another user, here \"{name}\"; remove database.embedded.user or run wonce as that user"
    )]
    NotRoot {
        /// The account.
        name: String,
    },
    /// The cluster belongs to somebody else than the requested account.
    #[error(
        "the existing cluster belongs to the user id {owner} and not to \"{name}\"; remove database.embedded.user, or hand it \
         over with `chown -R {name} DATA_DIR/data DATA_DIR/password`"
    )]
    ForeignOwner {
        /// The owner's user id.
        owner: u32,
        /// The requested account.
        name: String,
    },
    /// The cluster's owner cannot run a server.
    #[error(
        "the existing cluster belongs to the user id {owner}, which is root or has no name in \"{PASSWD}\", so \
         PostgreSQL cannot run as it; hand it over with `chown -R postgres DATA_DIR/data DATA_DIR/password`"
    )]
    UselessOwner {
        /// The owner's user id.
        owner: u32,
    },
}

/// One account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// Who runs the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunAs {
    /// The account that runs wonce.
    Myself,
    /// Another one; only root can do that.
    Other(User),
}

impl RunAs {
    /// Makes `command` run as this account. The standard library drops the supplementary groups as well.
    pub(crate) fn apply(&self, command: &mut Command) {
        match self {
            Self::Myself => {}
            Self::Other(user) => {
                command.uid(user.uid).gid(user.gid);
            }
        }
    }
}

/// Chooses the account; `owner` is the user id that owns an existing cluster.
pub(crate) fn choose(wanted: Option<&str>, owner: Option<u32>) -> Result<RunAs, Error> {
    let me = rustix::process::geteuid().as_raw();
    if me != 0 && wanted.is_none() {
        return Ok(RunAs::Myself);
    }
    let passwd = std::fs::read_to_string(PASSWD).map_err(Error::Passwd)?;
    choose_from(&parse(&passwd), me, wanted, owner)
}

fn choose_from(users: &[User], me: u32, wanted: Option<&str>, owner: Option<u32>) -> Result<RunAs, Error> {
    let named = |name: &str| users.iter().find(|user| user.name == name).cloned();
    let Some(name) = wanted else {
        return match owner {
            Some(owner) => users
                .iter()
                .find(|user| user.uid == owner && owner != 0)
                .map(|user| RunAs::Other(user.clone()))
                .ok_or(Error::UselessOwner { owner }),
            None => USUAL.into_iter().find_map(named).map(RunAs::Other).ok_or(Error::Nobody),
        };
    };
    let name = name.to_owned();
    let Some(user) = named(&name) else { return Err(Error::Unknown { name }) };
    match owner {
        _ if user.uid == 0 => Err(Error::Root { name }),
        _ if me != 0 && user.uid != me => Err(Error::NotRoot { name }),
        Some(owner) if owner != user.uid => Err(Error::ForeignOwner { owner, name }),
        Some(_) | None if user.uid == me => Ok(RunAs::Myself),
        Some(_) | None => Ok(RunAs::Other(user)),
    }
}

/// Lines that do not look like an account (comments, NIS includes) are passed over.
fn parse(passwd: &str) -> Vec<User> {
    passwd.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<User> {
    let mut fields = line.split(':');
    let name = fields.next()?.to_owned();
    let uid = fields.nth(1)?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    Some(User { name, uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "root:x:0:0:root:/root:/bin/bash\n# a comment\nnobody:x:65534:65534::/:/bin/false\n\
                          postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash\n";

    fn chosen(me: u32, wanted: Option<&str>, owner: Option<u32>) -> Result<String, String> {
        match choose_from(&parse(SAMPLE), me, wanted, owner) {
            Ok(RunAs::Myself) => Ok("myself".into()),
            Ok(RunAs::Other(user)) => Ok(user.name),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn root_prefers_the_postgres_user() {
        assert_eq!(chosen(0, None, None), Ok("postgres".into()));
    }

    #[test]
    fn root_falls_back_to_nobody() {
        let users = parse("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false");
        let found = choose_from(&users, 0, None, None).unwrap();
        assert_eq!(found, RunAs::Other(User { name: "nobody".into(), uid: 65534, gid: 65534 }));
    }

    #[test]
    fn root_without_a_usable_user_is_told_what_to_do() {
        let error = choose_from(&parse("root:x:0:0::/:/bin/sh"), 0, None, None).unwrap_err().to_string();
        assert!(error.contains("refuses to run as root") && error.contains("useradd"), "{error}");
    }

    #[test]
    fn root_runs_an_existing_cluster_as_its_owner() {
        assert_eq!(chosen(0, None, Some(65534)), Ok("nobody".into()));
        assert!(chosen(0, None, Some(0)).unwrap_err().contains("chown -R"));
        assert!(chosen(0, None, Some(7777)).unwrap_err().contains("7777"));
    }

    #[test]
    fn a_named_user_is_taken_or_refused_with_its_name() {
        assert_eq!(chosen(0, Some("nobody"), None), Ok("nobody".into()));
        assert_eq!(chosen(101, Some("postgres"), None), Ok("myself".into()));
        assert!(chosen(0, Some("ghost"), None).unwrap_err().contains("\"ghost\""));
        assert!(chosen(0, Some("root"), None).unwrap_err().contains("because that is root"));
        assert!(chosen(101, Some("nobody"), None).unwrap_err().contains("only root"));
        assert!(chosen(0, Some("nobody"), Some(101)).unwrap_err().contains("user id 101"));
    }
}
