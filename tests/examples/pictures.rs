//! The pictures in the README show what the product draws today.

use super::{Example, top};

fn picture(name: &str) -> String {
    std::fs::read_to_string(top().join("docs").join(name)).expect("a picture")
}

#[test]
fn the_graph_is_the_one_that_is_drawn() {
    let example = Example::new("staged");
    let said =
        example.scratch.sop(&["graph", "plans-examples/staged/plan.toml", "--format", "svg"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out == picture("staged.svg"),
        "docs/staged.svg is not what `sop graph plans-examples/staged/plan.toml -o docs/staged.svg` draws"
    );
}

#[test]
fn the_summary_is_the_one_that_is_drawn() {
    let example = Example::new("quickstart");
    let folder = tempfile::tempdir().expect("a folder");
    let drawn = folder.path().join("run.svg");
    let args = ["apply", "plans-examples/quickstart/plan.toml", "--yes", "--svg"];
    let said = example.scratch.sop(&[&args[..], &[drawn.to_str().expect("plain")]].concat());
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let drawn = std::fs::read_to_string(drawn).expect("a picture");
    assert_eq!(
        lasting(&drawn),
        lasting(&picture("quickstart.svg")),
        "docs/quickstart.svg is old: draw it in a fresh clone, with \
         `sop apply plans-examples/quickstart/plan.toml --yes --svg docs/quickstart.svg`"
    );
}

/// The words of a picture, without what differs from run to run: the command's own path, lengths of time
/// and commits.
fn lasting(svg: &str) -> String {
    let mut text = String::new();
    for piece in svg.split('<').skip_while(|piece| !piece.starts_with("/style>")) {
        if let Some((tag, shown)) = piece.split_once('>') {
            text.push_str(if tag.starts_with("/tspan") || tag.starts_with("tspan") {
                ""
            } else {
                "\n"
            });
            text.push_str(shown);
        }
    }
    let lines =
        text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('$'));
    let word = |word: &str| {
        let clock = word.strip_suffix('s').is_some_and(|n| n.parse::<f64>().is_ok());
        let commit = word.len() == 10 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        match (clock, commit) {
            (true, _) => "TIME".to_owned(),
            (_, true) => "COMMIT".to_owned(),
            _ => word.to_owned(),
        }
    };
    let line =
        |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ").trim().to_owned();
    lines.map(line).collect::<Vec<_>>().join("\n")
}
