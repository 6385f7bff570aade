//! The SVG: well formed, safe, and laid out so that nothing covers anything.

use sop::graph::seal;
use sop::model::plan::{Mode, Plan};
use sop::report::graph::{Drawing, svg::svg};

use super::{small, states};
use crate::support::small_plan::{plan, staged, wp};

fn draw(plan: &Plan) -> String {
    let sealed = seal(plan).unwrap();
    svg(&Drawing::of(plan, &sealed))
}

/// The value of an attribute in a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    let from =
        tag.split(&format!(" {name}=\"")).nth(1).unwrap_or_else(|| panic!("{name} in {tag}"));
    from.split('"').next().unwrap()
}

/// Top left corners of the WPs' boxes, in the order of the plan.
fn corners(svg: &str) -> Vec<(f64, f64)> {
    let corner = |piece: &str| {
        let (x, y) = piece.split_once(')').unwrap().0.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    let starts = svg.split("<g transform=\"translate(").skip(1);
    starts.filter(|p| p.contains("<title>")).map(corner).collect()
}

/// Every tag is closed by its own kind, and no bare `<` or `&` is left.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut pieces = svg.split('<');
    assert_eq!(pieces.next(), Some(""));
    for piece in pieces {
        let (tag, text) = piece.split_once('>').unwrap();
        let name =
            tag.split(|c: char| c.is_whitespace() || c == '/').find(|s| !s.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        for after in text.split('&').skip(1) {
            assert!(
                ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|e| after.starts_with(e)),
                "{text}"
            );
        }
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn it_stands_alone_and_nothing_in_a_plan_becomes_markup() {
    let mut plan = small();
    plan.goal = "</text><script>alert(1)</script> & more".to_owned();
    let drawn = draw(&plan);
    assert_well_formed(&drawn);
    assert!(
        drawn.contains("&lt;script&gt;") && drawn.contains("A &quot;&lt;b&gt;&quot; &amp; `c`")
    );
    for outside in ["<script", "@import", "@font-face", "href", "url(http"] {
        assert!(!drawn.contains(outside), "{outside}");
    }
    assert_eq!(drawn.matches("http").count(), 1, "the namespace alone");
    assert!(drawn.contains("prefers-color-scheme:dark"));
}

#[test]
fn arrows_are_those_of_the_graph() {
    let drawn = draw(&small());
    let body = drawn.rsplit_once("<g transform=\"translate(24 ").unwrap().0;
    let in_graph = |class: &str| body.matches(&format!("<path class=\"{class}\"")).count();
    assert_eq!((in_graph("need"), in_graph("whole")), (2, 1));
    let mut alone = staged(&["all"], &[("a", "all", None)]);
    alone.mode = Mode::Independent;
    let drawn = draw(&alone);
    assert!(!drawn.contains("<path class=\"need\"") && !drawn.contains("<path class=\"whole\""));
}

#[test]
fn levels_go_from_left_to_right() {
    let corners = corners(&draw(&small()));
    let x = |wp: usize| corners[wp].0;
    assert!(x(0) == x(1) && x(1) < x(2) && x(2) == x(3) && x(3) < x(4), "{corners:?}");
}

#[test]
fn no_box_covers_another_and_all_are_on_the_page() {
    for n in [1, 3, 7, 20, 60, 300] {
        let mut plan = plan(&["one", "two", "three"]);
        for i in 0..n {
            // A third of them in a chain through the second stage, the rest spread.
            let stage = ["one", "two", "two", "three", "two"][i % 5];
            let before = format!("w{}", i.wrapping_sub(5));
            let needs = [before.as_str()];
            let needs = (i % 5 == 1 && i > 5).then_some(&needs[..]);
            plan.wps.push(wp(&format!("w{i}"), stage, needs));
        }
        let drawn = draw(&plan);
        assert_well_formed(&drawn);
        let page = drawn.split('>').next().unwrap();
        let size = |name| attribute(page, name).parse::<f64>().unwrap();
        let corners = corners(&drawn);
        assert_eq!(corners.len(), n);
        for (i, a) in corners.iter().enumerate() {
            assert!(
                a.0 >= 0.0
                    && a.1 >= 0.0
                    && a.0 + 196.0 < size("width")
                    && a.1 + 82.0 < size("height")
            );
            for b in &corners[..i] {
                assert!(
                    (a.0 - b.0).abs() >= 196.0 || (a.1 - b.1).abs() >= 82.0,
                    "{n}: {a:?} {b:?}"
                );
            }
        }
    }
    assert_well_formed(&draw(&plan(&["one"])));
}

#[test]
fn long_titles_wrap_and_end_in_an_ellipsis() {
    let mut plan = staged(&["one"], &[("a", "one", None), ("b", "one", None)]);
    plan.wps[0].title = "word ".repeat(40);
    plan.wps[1].title = "x".repeat(400);
    let drawn = draw(&plan);
    let lines: Vec<&str> = drawn
        .split("<text class=\"title\"")
        .skip(1)
        .map(|t| t.split_once('>').unwrap().1.split('<').next().unwrap())
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(!lines[0].contains('…') && lines[0].split(' ').all(|w| w == "word"));
    assert!(lines[1].ends_with('…') && lines[2].ends_with('…'));
    assert!(lines.iter().all(|l| l.chars().count() < 40), "{lines:?}");
    assert!(drawn.contains(&format!("<title>b: {}</title>", "x".repeat(400))));
}

#[test]
fn states_are_words_and_colours() {
    let plan = small();
    let sealed = seal(&plan).unwrap();
    let states = states(&plan);
    let drawn = svg(&Drawing { states: Some(&states), ..Drawing::of(&plan, &sealed) });
    assert_well_formed(&drawn);
    for (class, word) in [("done", "done"), ("active", "round 2"), ("bad", "escalated")] {
        assert!(drawn.contains(&format!("<rect class=\"wp {class}\" width=")), "{class}");
        assert!(drawn.contains(&format!(">{word}</text>")), "{word}");
    }
    assert!(drawn.contains("<rect class=\"wp plain\"") && !drawn.contains(">waits for an answer<"));
}
