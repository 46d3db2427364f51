//! The repository a session worked in, if it is on this machine, and the commits that hold its work.

use backstory_model::Session;
use backstory_model::{Notice, NoticeKind};
use backstory_session::link::{Evidence, Link, Tier, links_of};
use backstory_store::{CommitLog, Git, Store};
use hashbrown::HashMap;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Whether repositories are asked.
#[derive(Debug, Clone, Copy)]
pub enum Repositories<'o> {
    /// Those that the sessions worked in, where they are.
    Ask(&'o KnownRepositories),
    /// None: the output depends on the sessions alone.
    Leave,
}

/// Repositories that were met already: what is known of one serves all sessions that worked in it.
#[derive(Debug, Default)]
pub struct KnownRepositories {
    store: Store,
    by_top: Mutex<HashMap<PathBuf, Arc<CommitLog>>>,
}

impl KnownRepositories {
    /// None yet; git is asked as this store says.
    pub fn new(store: &Store) -> KnownRepositories {
        KnownRepositories { store: store.clone(), ..KnownRepositories::default() }
    }

    fn holding(&self, path: &Path) -> Option<Arc<CommitLog>> {
        let git = Git::holding(path, &self.store)?;
        let mut known = self.by_top.lock().unwrap_or_else(PoisonError::into_inner);
        let top = git.top().to_path_buf();
        Some(Arc::clone(known.entry(top).or_insert_with(|| Arc::new(CommitLog::new(git)))))
    }
}

/// What the repository says.
#[derive(Debug, Default)]
pub(super) struct Commits {
    /// Where the files of the repository lie.
    pub(super) top: Option<String>,
    pub(super) url: Option<String>,
    /// The commit that the session began with.
    pub(super) base: Option<String>,
    /// Whether commits were looked for.
    pub(super) searched: bool,
    /// Why git could not be asked.
    pub(super) refused: Option<Notice>,
    pub(super) links: Vec<Link>,
}

/// A commit that holds what an edit wrote.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor<'l> {
    pub(super) link: &'l Link,
    pub(super) path: &'l str,
    pub(super) blob: Option<&'l str>,
    pub(super) tier: &'static str,
    pub(super) firmness: &'static str,
}

impl Commits {
    pub(super) fn of(session: &Session, repositories: Repositories<'_>) -> Commits {
        let Repositories::Ask(known) = repositories else { return Commits::default() };
        let cwds = session.cwds.iter().map(|cwd| Path::new(&**cwd)).filter(|cwd| cwd.is_dir());
        let log = cwds.into_iter().find_map(|cwd| known.holding(&cwd.join("file")));
        let Some(log) = log else { return Commits::default() };
        let git = log.git();
        let links = links_of(session, &log);
        let refused = links.as_ref().err().filter(|error| error.is_refusal());
        let refused = refused.map(|error| Notice::failed(git.top(), error.to_string()));
        // What is missing in a partial clone weakens the evidence, but not what the session says.
        let lacking = || links.as_ref().ok().and_then(|links| links.lacking(git));
        let weaker = |notice| Notice { kind: NoticeKind::PassedOver, ..notice };
        let refused = refused.or_else(|| lacking().map(weaker));
        let base = links.as_ref().ok().and_then(|links| base(session, git, &links.links));
        Commits {
            base,
            refused,
            top: Some(git.top().to_string_lossy().into_owned()),
            url: git.remote().and_then(|address| public_address(&address)),
            searched: links.is_ok(),
            links: links.unwrap_or_default().links,
        }
    }

    /// The newest commit that holds work of the session.
    pub(super) fn newest(&self) -> Option<&Link> {
        let held = self.links.iter().filter(|link| link.is_committed());
        held.max_by_key(|link| (link.commit.committed, &link.commit.id))
    }

    /// The strongest evidence that an edit was committed.
    pub(super) fn anchor(&self, call: Option<&str>, recorded: &str) -> Option<Anchor<'_>> {
        let mut best: Option<(u8, Anchor<'_>)> = None;
        for link in &self.links {
            for evidence in &link.evidence {
                let (rank, path, blob, tier, firmness) = match evidence {
                    Evidence::Blob { path, call: by, blob, .. }
                        if call.is_some() && by.as_deref() == call =>
                    {
                        (0, path, Some(blob.as_str()), "exact_blob_hash", "firm_observed")
                    }
                    Evidence::Lines { path, recorded: by, reformatted: 0, .. }
                        if by == recorded =>
                    {
                        (1, path, None, "exact_range_hash", "rule_inferred")
                    }
                    Evidence::Lines { path, recorded: by, .. } if by == recorded => {
                        (2, path, None, "formatter_divergent", "rule_inferred")
                    }
                    _ => continue,
                };
                if best.as_ref().is_none_or(|(known, _)| rank < *known) {
                    best = Some((rank, Anchor { link, path, blob, tier, firmness }));
                }
            }
        }
        best.map(|(_, anchor)| anchor)
    }

    /// The commit that holds every one of these files as the session left it.
    pub(super) fn revision(&self, recorded: &[&str]) -> Option<&str> {
        let holds = |link: &Link, path: &str| {
            link.evidence.iter().any(|evidence| {
                matches!(evidence, Evidence::Blob { recorded, last: true, .. } if recorded == path)
            })
        };
        let all = |link: &&Link| recorded.iter().all(|path| holds(link, path));
        self.links.iter().find(all).filter(|_| !recorded.is_empty()).map(|link| &*link.commit.id)
    }
}

/// What the first commit that the session made was made on, if that is older than the session: then
/// nothing came between. Other commits do not show what the session saw when it began.
fn base(session: &Session, git: &Git, links: &[Link]) -> Option<String> {
    let own = links.iter().filter(|link| link.tier == Tier::Printed);
    let first = own.min_by_key(|link| (link.commit.committed, &link.commit.id))?;
    let (parent, made) = git.parent(&first.commit.id).ok()??;
    (made? <= session.started?).then_some(parent)
}

/// OpenTraces' word for a tier.
pub(super) fn tier_name(link: &Link) -> &'static str {
    match link.tier {
        Tier::Printed | Tier::Blob => "tool_emitted",
        Tier::Lines if link.divergence() == Some(0.0) => "tool_emitted",
        Tier::Lines => "tool_emitted_with_divergence",
        Tier::Overlap => "overlapping",
    }
}

/// When the evidence came to be: no clock is read for an export.
pub(super) fn time(link: &Link) -> Timestamp {
    link.commit.committed.or(link.commit.authored).unwrap_or_default()
}

/// A remote's address as others can use it, without user names and passwords.
fn public_address(address: &str) -> Option<String> {
    let address = address.trim();
    let bare = match address.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => {
            let (host, path) = rest.split_once('/')?;
            let host = host.rsplit('@').next()?;
            format!("{}/{path}", host.split(':').next()?)
        }
        Some(_) => return None,
        None => {
            let (host, path) = address.split_once(':')?;
            let host = host.rsplit('@').next()?;
            let sound = host.len() > 1 && !host.contains('/') && !path.starts_with('\\');
            sound.then(|| format!("{host}/{}", path.trim_start_matches('/')))?
        }
    };
    let bare = bare.trim_end_matches('/').trim_end_matches(".git");
    (!bare.contains(['?', '#', ' ', '@'])).then(|| format!("https://{bare}"))
}

/// `owner/repository` of an address.
pub(super) fn owner_and_name(url: &str) -> Option<&str> {
    let path = url.strip_prefix("https://")?.split_once('/')?.1;
    (path.split('/').count() == 2).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_secrets() {
        let public = |address| public_address(address);
        let expected = Some("https://github.com/owner/name".to_owned());
        for address in [
            "https://user:pa%73s@github.com/owner/name.git",
            "git@github.com:owner/name.git",
            "ssh://git@github.com:22/owner/name",
        ] {
            assert_eq!(public(address), expected);
        }
        for address in ["/srv/git/name", "C:\\name", "file:///srv/x", "https://h/x?token=1"] {
            assert_eq!(public(address), None, "{address}");
        }
        assert_eq!(owner_and_name("https://github.com/owner/name"), Some("owner/name"));
        assert_eq!(owner_and_name("https://host/a/b/c"), None);
    }
}
