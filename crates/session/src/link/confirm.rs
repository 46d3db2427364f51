//! Whether a repository is the one a session worked in, where nothing tells its place.
//!
//! Paths that end alike prove little: every project has a `pyproject.toml`, a licence and a
//! `README.md`, and templates fill them with the same lines. Two things must hold. Most of what the
//! session edited below the folder that would be the repository's top must be files of it; and the
//! evidence must include files that are the project's own by name, or, for a session that edited no
//! such file, much of what only one project would say, or everything it edited, committed at once.

use super::evidence::{Evidence, Tier};
use super::facts::SessionFacts;
use hashbrown::{HashMap, HashSet};

/// Evidence for a commit, and how many letters and digits of it say anything.
#[derive(Debug)]
pub(super) struct Weighed {
    pub(super) at: usize,
    pub(super) evidence: Evidence,
    pub(super) weight: u64,
    /// A file that was committed as the session's last edit left it, within minutes.
    pub(super) soon: bool,
}

/// Letters and digits that files with names of their own must tell,
const OWN: u64 = 40;
/// and those with names that many projects have.
const SHARED: u64 = 300;

/// How much the name of a file says about its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    /// Files that templates and generators write: never enough.
    Template,
    /// What many projects have, each with words of its own.
    Shared,
    Own,
}

/// Leaves out evidence for a repository that may be another one.
pub(super) fn confirm(facts: &SessionFacts, found: &mut Vec<Weighed>) {
    if found.iter().any(|weighed| weighed.evidence.tier() == Tier::Printed) {
        return;
    }
    let confirmed = confirmed_tops(facts, found);
    found.retain(|weighed| {
        top_of(&weighed.evidence).is_some_and(|(top, _)| confirmed.contains(top))
    });
}

fn confirmed_tops(facts: &SessionFacts, found: &[Weighed]) -> HashSet<String> {
    let mut weights: HashMap<(&str, Name), u64> = HashMap::new();
    for Weighed { evidence, weight, .. } in found {
        if let Some((top, path)) = top_of(evidence) {
            *weights.entry((top, name_of(path))).or_default() += weight;
        }
    }
    let mut at_once: HashMap<(&str, usize), HashSet<&str>> = HashMap::new();
    for Weighed { at, evidence, .. } in found.iter().filter(|weighed| weighed.soon) {
        if let Some((top, path)) = top_of(evidence) {
            at_once.entry((top, *at)).or_default().insert(path);
        }
    }
    let is_whole = |top: &str| {
        let all = facts.below(top).count();
        at_once.iter().any(|((of, _), paths)| *of == top && paths.len() == all)
    };
    let enough = |top: &&str| {
        let weight = |name: Name| weights.get(&(*top, name)).copied().unwrap_or(0);
        let has_own = facts.below(top).any(|path| name_of(path) == Name::Own);
        weight(Name::Own) >= OWN || (!has_own && weight(Name::Shared) >= SHARED) || is_whole(top)
    };
    weights.keys().map(|(top, _)| *top).filter(enough).map(str::to_owned).collect()
}

/// The folder that would be the top of the repository, and the path below it.
fn top_of(evidence: &Evidence) -> Option<(&str, &str)> {
    let (path, recorded) = match evidence {
        Evidence::Printed { .. } => return None,
        Evidence::Blob { path, recorded, .. }
        | Evidence::Lines { path, recorded, .. }
        | Evidence::Overlap { path, recorded } => (path, recorded),
    };
    Some((recorded.strip_suffix(path.as_str())?, path))
}

fn name_of(path: &str) -> Name {
    let path = path.to_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let tools = [".github", ".gitlab", ".vscode", ".idea", ".husky", ".devcontainer", ".circleci"];
    if name.starts_with('.') || folders.split('/').any(|folder| tools.contains(&folder)) {
        return Name::Template;
    }
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let begins = |words: &[&str]| words.iter().any(|word| stem.starts_with(word));
    let settings = matches!(ending, "config.js" | "config.cjs" | "config.mjs" | "config.ts");
    if settings || TEMPLATES.contains(&name) || begins(&TEMPLATE_BEGINNINGS) {
        return Name::Template;
    }
    if SHARED_STEMS.contains(&stem) || begins(&["readme", "changelog", "contributing"]) {
        Name::Shared
    } else {
        Name::Own
    }
}

const TEMPLATE_BEGINNINGS: [&str; 16] = [
    "authors",
    "code_of_conduct",
    "compose",
    "copying",
    "docker-compose",
    "dockerfile",
    "jsconfig",
    "licence",
    "license",
    "notice",
    "package-lock",
    "pnpm-",
    "requirements",
    "security",
    "tsconfig",
    "unlicense",
];

const TEMPLATES: [&str; 62] = [
    "__init__.py",
    "asgi.py",
    "biome.json",
    "build.gradle",
    "build.gradle.kts",
    "bun.lock",
    "cargo.lock",
    "cargo.toml",
    "clippy.toml",
    "cmakelists.txt",
    "codecov.yml",
    "components.json",
    "composer.json",
    "composer.lock",
    "conftest.py",
    "deno.json",
    "deny.toml",
    "gemfile",
    "gemfile.lock",
    "go.mod",
    "go.sum",
    "gradlew",
    "gradlew.bat",
    "justfile",
    "lerna.json",
    "makefile",
    "manage.py",
    "manifest.in",
    "manifest.json",
    "mix.exs",
    "mix.lock",
    "mkdocs.yml",
    "netlify.toml",
    "next-env.d.ts",
    "nx.json",
    "package.json",
    "package.swift",
    "pipfile",
    "pipfile.lock",
    "poetry.lock",
    "pom.xml",
    "procfile",
    "pubspec.yaml",
    "pyproject.toml",
    "pytest.ini",
    "rakefile",
    "renovate.json",
    "robots.txt",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "settings.gradle",
    "settings.gradle.kts",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "turbo.json",
    "uv.lock",
    "vercel.json",
    "vite-env.d.ts",
    "wrangler.toml",
    "wsgi.py",
    "yarn.lock",
];

const SHARED_STEMS: [&str; 30] = [
    "admin",
    "agents",
    "app",
    "claude",
    "cli",
    "client",
    "config",
    "constants",
    "gemini",
    "globals",
    "helpers",
    "index",
    "layout",
    "lib",
    "main",
    "mod",
    "models",
    "page",
    "routes",
    "server",
    "settings",
    "style",
    "styles",
    "test",
    "tests",
    "types",
    "urls",
    "util",
    "utils",
    "views",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirm_compares_projects_by_name() {
        for path in [
            "pyproject.toml",
            "LICENSE",
            "LICENSE-MIT.txt",
            ".gitignore",
            "web/tailwind.config.ts",
            "tsconfig.node.json",
            ".github/workflows/ci.yml",
            "src/pkg/__init__.py",
        ] {
            assert_eq!(name_of(path), Name::Template, "{path}");
        }
        for path in ["README.md", "src/main.rs", "CLAUDE.md", "web/index.ts"] {
            assert_eq!(name_of(path), Name::Shared, "{path}");
        }
        for path in ["src/tides.rs", "docs/plan.md", "web/maintenance.ts", "data/harbours.toml"] {
            assert_eq!(name_of(path), Name::Own, "{path}");
        }
    }
}
