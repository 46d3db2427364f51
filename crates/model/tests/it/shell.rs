//! Scripts are split into commands.

use backstory_model::shell::{Command, Link, Operator, Script, assigns, unwrapped};

/// `words > outputs` of each command.
fn seen(script: &str) -> Vec<String> {
    let show = |command: &&Command| {
        let outputs: Vec<&str> = command.outputs().collect();
        format!("{} > {}", command.texts().join("/"), outputs.join("/"))
    };
    Script::split(script).all().iter().map(show).collect()
}

#[test]
fn words_and_outputs() {
    assert_eq!(seen("a 'b c'>x 2>&1 | d \"e\\\"f\" <in; g"), ["a/b c > x", "d/e\"f > ", "g > "]);
    assert_eq!(seen("  \n ;; "), [""; 0]);
    assert_eq!(seen("a \\\n  b c\\ d"), ["a/b/c d > "]);
    assert_eq!(seen("a &> x & b >& y; c >| z"), ["a > x", "b > y", "c > z"]);
    assert_eq!(seen("a 2>err >>out >&2 <<<'in > w' 3<&-"), ["a > err/out"]);
    assert_eq!(seen(r#"a "\d" $'b\'\t' $"c" d\"#), ["a/\\d/b'\t/c/d\\ > "]);
}

#[test]
fn comments_are_not_commands() {
    assert_eq!(seen("a # don't > x\nb#c '#d' # e"), ["a > ", "b#c/#d > "]);
}

#[test]
fn here_documents_are_data() {
    let script = "cat << END > x\nrm y\n END\nEND\ncat <<-'A B' <<C\nz\n\tA B\nC\ntee w";
    let split = Script::split(script);
    assert_eq!(seen(script), ["cat > x", "cat > ", "tee/w > "]);
    let documents = |at: usize| -> Vec<&str> {
        split.commands[at].documents().map(|document| split.lines_of(document)).collect()
    };
    assert_eq!(documents(0), ["rm y\n END\n"]);
    assert_eq!(documents(1), ["z\n", ""]);
    assert_eq!(seen("cat <<E\nrm x"), ["cat > "]);
    assert_eq!(
        seen("echo $((1 << 2)) > a\n((x = 1 << 2))\nrm b"),
        ["echo/$((1 << 2)) > a", "rm/b > "]
    );
}

#[test]
fn substitutions_are_part_of_a_word_and_commands_too() {
    let message = "git commit -m \"$(cat <<'EOF'\nIt's \"done\" > x\nEOF\n)\" && rm y";
    assert_eq!(
        seen(message),
        ["git/commit/-m/$(cat <<'EOF'\nIt's \"done\" > x\nEOF\n) > ", "cat > ", "rm/y > "]
    );
    assert_eq!(
        seen("x=$(mv a b) c `d 'e'` f"),
        ["x=$(mv a b)/c/`d 'e'`/f > ", "mv/a/b > ", "d/e > "]
    );
    assert_eq!(
        seen("diff <(sort a) >(tee b)"),
        ["diff/<(sort a)/>(tee b) > ", "sort/a > ", "tee/b > "]
    );
    assert_eq!(seen("echo ${a:-x y} \"${b}\" ${c"), ["echo/${a:-x y}/${b}/${c > "]);
    assert_eq!(seen("echo \"it's `date` \\`x\""), ["echo/it's `date` `x > ", "date > "]);
}

#[test]
fn commands_are_connected() {
    let script = "a && b || c | d & (e; f) | g\nh |& i";
    let links: Vec<Link> = Script::split(script).commands.iter().map(|one| one.link).collect();
    use Link::{And, Background, Or, Pipe, Sequence};
    assert_eq!(links, [And, Or, Pipe, Background, Sequence, Pipe, Sequence, Pipe, Sequence]);
    let split = Script::split(script);
    let last = &split.commands[5];
    assert_eq!((&script[last.span.clone()], &script[last.link_at..][..3]), ("f", "| g"));
}

#[test]
fn gaps_are_the_white_space_that_does_not_count() {
    let script = "a  'b  c' \\\n d\n\"$(e  f)\" $(g  h)";
    let gaps = Script::split(script).gaps;
    let texts: Vec<&str> = gaps.iter().map(|gap| &script[gap.clone()]).collect();
    assert_eq!(texts, ["  ", " \\\n ", "\n", " ", "  "]);
}

#[test]
fn redirections_name_what_they_do() {
    let script = "a 2>&1 12>x <y <<<z <<E\nE\n";
    let split = Script::split(script);
    let operators = split.commands[0].redirections.iter().map(|one| one.operator);
    use Operator::{Document, Duplicate, Input, Output, Text};
    assert_eq!(operators.collect::<Vec<_>>(), [Duplicate, Output, Input, Text, Document]);
    assert_eq!(&script[split.commands[0].redirections[1].span.clone()], "12>x");
}

#[test]
fn scripts_for_a_shell_are_unwrapped() {
    assert_eq!(unwrapped(&["bash", "-lc", "ls"]), Some("ls"));
    assert_eq!(unwrapped(&["/bin/sh", "-c", "ls", "x"]), Some("ls"));
    assert_eq!(unwrapped(&["pwsh.exe", "-Command", "ls"]), Some("ls"));
    assert_eq!(unwrapped(&["python3", "-c", "ls"]), None);
    assert_eq!(unwrapped(&["bash", "-l", "ls"]), None);
    assert!(assigns("A_1=b") && !assigns("=b") && !assigns("a-b=c") && !assigns("ab"));
}

#[test]
fn hostile_scripts_take_no_longer_than_others() {
    for part in ["$((", "$(", "`", "\"$(", "${", "<<E ", "'", "((", "<(", "a`\\`", "{"] {
        let script = part.repeat(100_000);
        let split = Script::split(&script);
        assert!(split.all().len() <= script.len());
    }
}
