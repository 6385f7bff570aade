//! The one door to git, held against real repositories.

mod adversary;
mod bases;
mod environment;
mod guards;
mod history;
mod ignores;
mod indexes;
mod interrupted;
mod looks;
mod merging;
mod odd_repositories;
mod remotes;
mod removals;
mod said;
mod settling;
mod standing;
mod worktrees;
