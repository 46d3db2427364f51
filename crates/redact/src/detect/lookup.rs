//! Calls whose argument names a value and is none.

/// Calls that are given a name and not a value.
pub(crate) fn is_lookup(call: &str) -> bool {
    let last = call.rsplit(['.', ':']).next().unwrap_or(call).to_ascii_lowercase();
    matches!(
        last.as_str(),
        "get"
            | "getenv"
            | "env"
            | "environ"
            | "lookup"
            | "fetch"
            | "var"
            | "require"
            | "import"
            | "getproperty"
            | "getstring"
            | "find"
            | "read"
            | "load"
            | "config"
            | "param"
            | "getparameter"
            | "t"
            | "gettext"
            | "_"
            | "print"
            | "println"
            | "printf"
            | "sprintf"
            | "format"
            | "log"
            | "error"
            | "field"
            | "charfield"
            | "label"
            | "describe"
            | "it"
            | "open"
            | "value_of"
            | "prompt"
            | "getpass"
            | "input"
            | "flag"
            | "option"
            | "addflag"
            | "header"
            | "split"
            | "replace"
            | "parse"
            | "property"
    ) || last.starts_with("get")
        || last.ends_with("error")
        || last.ends_with("exception")
        || last.ends_with("env")
        || last.ends_with("field")
        || last.ends_with("flag")
        || last.ends_with("key")
}
