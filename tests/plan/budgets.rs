//! Budgets of money, over workers that never tell what they cost.

use super::found;

/// A plan of one package on `light`. `plan`, `tiers` and `wp` are put into those tables, or after them.
fn plan(plan: &str, worker: &str, tiers: &str, wp: &str) -> String {
    format!(
        "version = 1\n[plan]\nname = \"p\"\ngoal = \"Try it.\"\ntier = \"light\"\n{plan}\n\
         [tiers.light]\nworker = \"{worker}\"\n{tiers}\n\
         [[wp]]\nid = \"a\"\nwhitelist = [\"a\"]\ndod = [\"true\"]\nbrief_text = \"Do it.\"\n{wp}\n"
    )
}

const MONEY: &str = "budget_usd = 5.0";

#[test]
fn a_budget_that_holds_nobody_is_named_at_its_key() {
    for (worker, names) in [
        ("codex", "codex (tier `light`) tells no cost"),
        ("gemini", "gemini (tier `light`) tells no cost"),
        ("gemini-acp", "gemini-acp (tier `light`) tells no cost"),
        ("codex-acp", "codex-acp (tier `light`) tells no cost"),
    ] {
        let wanted = format!(
            "6:1 (warning) untold-cost: this budget holds nobody: {names} at <budget_usd>, who tells none 8:10; say it in \
             tokens, which are told: `budget_tokens`"
        );
        assert_eq!(found(&plan(MONEY, worker, "", "")), [wanted]);
    }
    // At the key of a package as well, each where it stands.
    let both = found(&plan(MONEY, "codex", "", MONEY));
    let places: Vec<&str> =
        both.iter().filter_map(|line| line.split_once(' ')).map(|it| it.0).collect();
    assert_eq!(places, ["6:1", "15:1"], "{both:#?}");
}

#[test]
fn who_tells_it_or_may_is_held() {
    for worker in ["claude", "opencode", "aider", "claude-acp", "opencode-acp"] {
        assert_eq!(found(&plan(MONEY, worker, "", "")), [""; 0], "{worker}");
    }
    for table in
        ["command = [\"sh\", \"-c\", \"true\"]", "agent = \"acp\"\nprogram = [\"some-agent\"]"]
    {
        let table = format!("[workers.mine]\n{table}");
        assert_eq!(found(&plan(MONEY, "mine", &table, MONEY)), [""; 0], "{table}");
    }
    assert_eq!(found(&plan("budget_tokens = 9000", "codex", "", "")), [""; 0]);
    let started =
        "[workers.mine]\nagent = \"acp\"\nprogram = [\"npx\", \"@zed-industries/codex-acp\"]";
    assert!(
        found(&plan(MONEY, "mine", started, ""))[0].contains("mine (tier `light`) tells no cost")
    );
}

#[test]
fn everybody_whom_the_work_may_come_to_counts() {
    let other = "[tiers.other]\nworker = \"codex\"";
    let third = "[tiers.third]\nworker = \"claude\"\nescalate_to = \"other\"\n";
    let reviews = "[review]\ntier = \"other\"";
    let stand_in = "[tiers.reviewers]\nworker = \"claude\"\nfallback = [\"other\"]\n[review]\ntier = \"reviewers\"";
    for tiers in [
        format!("escalate_to = \"other\"\n{other}"),
        format!("fallback = [\"other\"]\n{other}"),
        format!("escalate_to = \"third\"\n{third}{other}"),
        format!("{other}\n{reviews}"),
        format!("{other}\n{stand_in}"),
    ] {
        let found = found(&plan("", "claude", &tiers, MONEY));
        assert_eq!(found.len(), 1, "{tiers}: {found:#?}");
        assert!(
            found[0].contains("does not hold codex (tier `other`), which tells no cost"),
            "{found:#?}"
        );
        assert!(
            found[0].contains("add `budget_tokens`: tokens are told by all of them"),
            "{found:#?}"
        );
    }
    // One that only a reviewer could go on to, and reviews have no next round; one that nobody comes to.
    let idle = format!(
        "[tiers.reviewers]\nworker = \"claude\"\nescalate_to = \"other\"\n{other}\n[review]\ntier = \"reviewers\""
    );
    assert_eq!(found(&plan(MONEY, "claude", &idle, MONEY)), [""; 0]);
    assert_eq!(found(&plan(MONEY, "claude", other, MONEY)), [""; 0]);
}

#[test]
fn whoever_reads_the_whole_is_paid_by_the_plan_alone() {
    let verify = "[tiers.other]\nworker = \"gemini\"\n[verify]\nreview_tier = \"other\"\n[[stage]]\nname = \"s\"";
    let wp = format!("stage = \"s\"\n{MONEY}");
    let found = found(&plan(MONEY, "claude", verify, &wp));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].starts_with("6:1 (warning) untold-cost: this budget does not hold gemini"),
        "{found:#?}"
    );
}

#[test]
fn tokens_beside_it_hold_and_are_enough_where_it_holds_somebody() {
    let both = "budget_usd = 5.0\nbudget_tokens = 9000";
    let alone = found(&plan(both, "codex", "", ""));
    assert_eq!(alone.len(), 1, "{alone:#?}");
    assert!(
        alone[0].ends_with("leave it out: `budget_tokens` beside it is what holds"),
        "{alone:#?}"
    );
    let mixed = "escalate_to = \"other\"\n[tiers.other]\nworker = \"claude\"";
    assert_eq!(found(&plan(both, "codex", mixed, "")), [""; 0]);
}

#[test]
fn a_consolidation_has_a_budget_of_its_own() {
    let tiers = format!(
        "[[stage]]\nname = \"s\"\nshared = [\"shared\"]\n[stage.consolidate]\n{MONEY}\ntier = \"light\""
    );
    let found = found(&plan("", "codex", &tiers, "stage = \"s\""));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("13:1 (warning) untold-cost"), "{found:#?}");
}
