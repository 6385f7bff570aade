//! The report room: what it draws.

mod cells;
mod checkpoint;
mod escape;
mod findings;
mod json;
mod junit;
mod live;
mod palette;
mod plain;
mod scene;
mod screen;
mod status;
mod summary;
