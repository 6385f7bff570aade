//! `sop apply` of work packages whose worker is `true`: all that is left is what `sop` itself costs.

use crate::race::{Entrant, finish, race};
use crate::scratch::Place;
use crate::table::{Aim, compare, heading, note};
use crate::{bare, plans};

/// At work at once, in `sop` and in the floor.
const PARALLEL: usize = 4;

pub fn run(place: &Place) {
    heading("apply", "N work packages whose worker and DoD are `true`, four at a time");
    note(
        "floor: per WP 2 git commands, 4 forks of `true` (two stand for the holders), and the removal of the worktree",
    );
    note(
        "repository of 20 files; sop also validates, journals, snapshots, compares the repository before and after each worker",
    );
    for (count, rounds) in [(100, 5), (1_000, 3)] {
        let repository = place.repository(20);
        let plan = repository.plan(&plans::nothing_to_do(count, PARALLEL));
        let mut entrants = vec![
            Entrant::new("sop apply --yes", || {
                bare::forget(&repository);
                finish(&mut repository.sop(&["apply", "--yes", &plan]))
            }),
            Entrant::new("bare loop of the same calls", || {
                bare::forget(&repository);
                bare::run(&repository, count, PARALLEL)
            }),
        ];
        race(rounds, &mut entrants);
        compare(&format!("{count} WPs"), &entrants, &[Aim::AtMost(1.4)]);
    }
}
