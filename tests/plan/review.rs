//! Review by a worker, and the last look at the whole.

use super::{found, good_but, only, reading};
use sop::model::ids::TierId;
use sop::model::plan::{Plan, Review, Verify};
use sop::model::verdict::ReviewSeverity;

#[track_caller]
fn plan(text: &str) -> Plan {
    let (source, read) = reading(text);
    read.plan.unwrap_or_else(|| panic!("{:#?}", super::lines(&source, &read.findings)))
}

const STAGED: (&str, &str) = ("id = \"client\"", "id = \"client\"\nneeds = []");

fn by(lenses: &[&str], block_from: ReviewSeverity) -> Review {
    let lenses = lenses.iter().map(|lens| (*lens).to_owned()).collect();
    Review::Worker { tier: TierId::new("light").unwrap(), lenses, block_from }
}

#[test]
fn who_says_no_review_is_reviewed_by_the_worker() {
    let review = "[review]\ntier = \"light\"\n[[wp]]";
    let with = |key: &str| good_but("[[wp]]", review) + key;
    let quality = by(&["quality"], ReviewSeverity::Minor);
    assert_eq!(plan(&with("")).wps[0].review, quality);
    assert_eq!(plan(&with("review = \"worker\"")).wps[0].review, quality);
    let scout = with("")
        .replace("whitelist = [\"src/client/**\"]\ndod = [\"cargo test\"]", "kind = \"scout\"");
    assert_eq!(plan(&scout).wps[0].review, Review::None, "there is no change to read");
    let own = with("review = \"human\"");
    assert_eq!(plan(&own).wps[0].review, Review::Human);
    assert_eq!(
        found(&own),
        [
            "9:1 (warning) unused-review: no work package is reviewed by this worker at <[review]>; give one `review = \"worker\"`, or \
          leave the table out"
        ]
    );
    let all = with("").replace("goal =", "review = \"none\"\ngoal =");
    assert_eq!(plan(&all).wps[0].review, Review::None);
    let said = with("").replace(
        "tier = \"light\"\n",
        "tier = \"light\"\nlenses = [\"tests\", \"own\"]\nblock_from = \"note\"\n",
    );
    assert_eq!(plan(&said).wps[0].review, by(&["tests", "own"], ReviewSeverity::Note));
}

#[test]
fn what_is_wrong_with_a_review() {
    let review = |table: &str| good_but("[[wp]]", &format!("[review]\n{table}\n[[wp]]"));
    for (text, wanted) in [
        (
            good_but("brief_text", "review = \"worker\"\nbrief_text"),
            "13:10 no-review-table: it is not said which worker reviews at <\"worker\">; add a `[review]` table with at least a `tier`",
        ),
        (
            good_but("goal =", "review = \"worker\"\ngoal ="),
            "4:10 no-review-table: it is not said which worker reviews at <\"worker\">; add a `[review]` table with at least a `tier`",
        ),
        (
            review("tier = \"lihgt\""),
            "10:8 unknown-tier: there is no tier `lihgt` at <\"lihgt\">; did you mean `light`?",
        ),
        (
            review("tier = \"light\"\nlenses = []"),
            "11:10 bad-lenses: this review looks for nothing: it has no lens at <[]>; name at least one, such as \"quality\", or leave \
             `lenses` out",
        ),
        (
            review("tier = \"light\"\nlenses = [\"a\", \"b\", \"a\"]"),
            "11:21 bad-lenses: the lens `a` is there twice at <\"a\">, first 11:11; leave one out",
        ),
        (
            review("lenses = [\"a\"]"),
            "9:1 missing-key: `[review]` has no `tier` at <[review]>; Tier that reviews. For example: `tier = \"lead\"`",
        ),
    ] {
        assert_eq!(only(&text), wanted);
    }
}

#[test]
fn the_last_look_is_at_an_integrated_tree() {
    let verify = |table: &str| {
        good_but(STAGED.0, STAGED.1).replace("[[wp]]", &format!("[verify]\n{table}\n[[wp]]"))
    };
    let both = plan(&verify(
        "review_tier = \"light\"\nlive = [\"e2e\", { run = [\"x\"], timeout = \"1h\" }]",
    ));
    let Some(Verify { review_tier, block_from, live }) = both.verify else { panic!("it is there") };
    assert_eq!(review_tier.as_ref().map(TierId::as_str), Some("light"));
    assert_eq!(block_from, ReviewSeverity::Minor);
    let blocks = |table: &str| plan(table).verify.expect("it is there").block_from;
    assert_eq!(
        blocks(&verify("review_tier = \"light\"\nblock_from = \"note\"")),
        ReviewSeverity::Note
    );
    let reviewed = "review_tier = \"light\"\n[review]\ntier = \"light\"\nblock_from = \"major\"";
    assert_eq!(blocks(&verify(reviewed)), ReviewSeverity::Major, "as reviews do");
    assert_eq!(live.iter().map(|dod| dod.text.as_str()).collect::<Vec<_>>(), ["e2e", "x"]);
    for (text, wanted) in [
        (
            verify(""),
            "9:1 empty-verify: `[verify]` asks for nothing at <[verify]>; name a `review_tier`, or `live` commands, or leave the table out",
        ),
        (
            good_but("[[wp]]", "[verify]\nreview_tier = \"light\"\n[[wp]]"),
            "9:1 verify-independent: these work packages are independent: nothing is integrated that could be verified at <[verify]>; \
             give the plan stages or `needs`, or leave `[verify]` out",
        ),
        (
            verify("review_tier = \"lihgt\""),
            "10:15 unknown-tier: there is no tier `lihgt` at <\"lihgt\">; did you mean `light`?",
        ),
        (
            verify("live = [\"x\"]\nblock_from = \"major\""),
            "11:1 (warning) idle-key: nobody reads the whole, so nothing is found that could block at <block_from>; name a `review_tier`, or \
             leave `block_from` out",
        ),
        (
            verify("live = [{ run = \"x\", expect = \"green\" }]"),
            "10:22 live-expect: a live command is run on the integrated tree and never on the base at <expect>; leave `expect` out",
        ),
        (verify("live = [\"it's\"]"), "10:12 open-quote: `it's` has a ' that is not closed at <'>"),
    ] {
        let line = only(&text);
        let line = line.split(" (opens").next().unwrap_or_default();
        assert_eq!(line, wanted);
    }
}
