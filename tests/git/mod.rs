//! The one door to git, held against real repositories.

mod adversary;
mod worktrees;
