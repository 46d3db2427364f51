//! Paths as sessions record them, made comparable.

use unicode_normalization::UnicodeNormalization;

/// An absolute path without `.`, `..` and doubled separators, in Unicode's composed form, with an
/// upper-case drive letter. A relative path is taken from `base`.
pub fn normal_path(path: &str, base: Option<&str>) -> String {
    let path = if path.is_ascii() { path.to_owned() } else { path.nfc().collect() };
    let joined = if is_absolute(&path) {
        path
    } else {
        match base {
            Some(base) => format!("{base}/{path}"),
            None => path,
        }
    };
    let windows = joined.as_bytes().get(1) == Some(&b':') || joined.starts_with("\\\\");
    let joined = if windows { joined.replace('\\', "/") } else { joined };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut normal = String::with_capacity(joined.len());
    if joined.starts_with('/') {
        normal.push('/');
    }
    normal.push_str(&parts.join("/"));
    if windows {
        normal.get_mut(..1).map(str::make_ascii_uppercase);
    }
    normal
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with('\\') || path.as_bytes().get(1) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_comparable() {
        assert_eq!(normal_path("/w/./a/../b//c.rs", None), "/w/b/c.rs");
        assert_eq!(normal_path("src/x.rs", Some("/w")), "/w/src/x.rs");
        assert_eq!(normal_path("c:\\w\\x.rs", None), "C:/w/x.rs");
        assert_eq!(normal_path("/w/cafe\u{301}", None), "/w/caf\u{e9}");
    }
}
