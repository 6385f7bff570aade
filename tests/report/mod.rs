//! The report room: what it draws.

mod cells;
mod checkpoint;
mod closing;
mod escape;
mod findings;
mod graph;
mod inbox;
mod json;
mod junit;
mod live;
mod palette;
mod plain;
mod rules;
mod scene;
mod screen;
mod status;
mod summary;
mod told;
