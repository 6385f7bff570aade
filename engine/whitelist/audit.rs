//! What can be said of a list only when its patterns are held against each other: what never matches,
//! what is taken away again, what takes nothing away.

use super::finding::{Notes, PatternFinding, Problem};
use super::lower::Pattern;
use super::search::{self, Answer, Effort, MAX_STEPS};
use super::sequence::Sequence;

/// Notes the findings of the list as a whole.
pub(super) fn check(list: &[Pattern], findings: &mut Vec<PatternFinding>) {
    if !list.is_empty() && list.iter().all(|p| p.negative) {
        note(0, &list[0], Problem::OnlyNegative, findings);
        return;
    }
    // What one `!` pattern takes away stays away, whatever the others are. But what is not read might
    // share a path with a `!` pattern that seems to take nothing away.
    let whole = list.iter().all(|p| p.negative || p.sound);
    let negatives: Vec<&Pattern> = list.iter().filter(|p| p.negative && p.sound).collect();
    for (index, pattern) in list.iter().enumerate().filter(|(_, p)| p.sound) {
        if !pattern.negative {
            if !remains(pattern, &[]) {
                note(index, pattern, Problem::NeverMatches, findings);
            } else if !remains(pattern, &negatives) {
                let by = (negatives.iter().filter(|n| meet(pattern, n)))
                    .map(|n| n.text.clone())
                    .collect();
                note(index, pattern, Problem::Subtracted { by }, findings);
            }
        } else if whole
            && !list.iter().any(|p| !p.negative && meet(p, pattern))
            && !findings
                .iter()
                .any(|f| f.pattern == index && matches!(f.problem, Problem::Git { .. }))
        {
            note(index, pattern, Problem::SubtractsNothing, findings);
        }
    }
}

fn note(index: usize, pattern: &Pattern, problem: Problem, findings: &mut Vec<PatternFinding>) {
    let mut notes = Notes { pattern: index, findings };
    notes.add(0..pattern.text.len(), problem);
}

/// Whether `pattern` matches a path that none of `negatives` does.
fn remains(pattern: &Pattern, negatives: &[&Pattern]) -> bool {
    pattern.sequences.iter().any(|sequence| {
        let against: Vec<&Sequence> =
            negatives.iter().flat_map(|n| &n.sequences).filter(|n| n.may_meet(sequence)).collect();
        (against.is_empty() && sequence.surely_matches())
            || sequence.surely_outlasts(&against)
            || search::find(sequence, None, &against, MAX_STEPS, &mut Effort::default())
                != Answer::Empty
    })
}

/// Whether a path matches both patterns.
fn meet(a: &Pattern, b: &Pattern) -> bool {
    a.sequences.iter().any(|a| {
        b.sequences.iter().any(|b| {
            a.may_meet(b)
                && (a.surely_covers(b) && b.surely_matches()
                    || search::find(a, Some(b), &[], MAX_STEPS, &mut Effort::default())
                        != Answer::Empty)
        })
    })
}
