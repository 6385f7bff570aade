//! Patterns as nondeterministic automata over [`Symbol`]s, without empty transitions. One arena holds
//! the states of as many patterns as a question is about.

use std::sync::Arc;

use super::sequence::{Component, Part, Sequence};
use super::symbol::{Class, SLASH, Symbol, symbols};
use super::syntax::{Kind, Token};

/// What a transition reads.
#[derive(Debug, Clone)]
pub(super) enum Label {
    /// This symbol.
    Just(Symbol),
    /// Anything but `/`.
    Any,
    /// One of a class.
    Class(Arc<Class>),
}

impl Label {
    pub(super) fn takes(&self, symbol: Symbol) -> bool {
        match self {
            Self::Just(only) => *only == symbol,
            Self::Any => symbol != SLASH,
            Self::Class(class) => class.takes(symbol),
        }
    }
}

/// One transition.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) on: Label,
    pub(super) to: u32,
}

/// One state, or the beginning of a language that no state stands for yet.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) edges: Vec<Edge>,
    pub(super) accept: bool,
    /// Every way to go on to the end of a path is accepted.
    pub(super) all: bool,
}

/// A state that gets its number when a transition to it is made.
#[derive(Debug, Clone, Default)]
struct Head {
    state: State,
    id: Option<u32>,
}

/// The arena. States refer to each other by index.
#[derive(Debug, Clone, Default)]
pub(super) struct Automaton {
    states: Vec<State>,
}

impl Automaton {
    pub(super) fn state(&self, id: u32) -> &State {
        &self.states[id as usize]
    }

    /// Adds a pattern and gives its start.
    pub(super) fn add(&mut self, sequence: &Sequence) -> u32 {
        let mut head = self.parts(sequence.parts());
        self.place(&mut head)
    }

    /// Adds the language of all paths and gives its start.
    pub(super) fn add_everything(&mut self) -> u32 {
        let mut head = self.inside();
        self.place(&mut head)
    }

    /// Adds the tokens of one component and gives its start.
    pub(super) fn add_component(&mut self, tokens: &[Token]) -> u32 {
        let mut head = self.tokens(tokens, end());
        self.place(&mut head)
    }

    /// Whether the language that starts at `start` has `name` in it.
    pub(super) fn accepts(&self, start: u32, name: &[u8]) -> bool {
        let (mut now, mut next) = (vec![start], Vec::new());
        for symbol in symbols(name) {
            next.clear();
            for state in &now {
                for edge in &self.state(*state).edges {
                    if edge.on.takes(symbol) && !next.contains(&edge.to) {
                        next.push(edge.to);
                    }
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        now.iter().any(|state| self.state(*state).accept)
    }

    fn alloc(&mut self, state: State) -> u32 {
        self.states.push(state);
        (self.states.len() - 1) as u32
    }

    fn place(&mut self, head: &mut Head) -> u32 {
        *head.id.get_or_insert_with(|| self.alloc(head.state.clone()))
    }

    /// Reads one symbol, then goes on as `rest`.
    fn one(&mut self, on: Label, mut rest: Head) -> Head {
        let to = self.place(&mut rest);
        Head { state: State { edges: vec![Edge { on, to }], ..State::default() }, id: None }
    }

    /// Reads `tokens`, then goes on as `rest`.
    fn tokens(&mut self, tokens: &[Token], rest: Head) -> Head {
        let mut head = rest;
        for token in tokens.iter().rev() {
            head = match &token.kind {
                Kind::Literal(c) => self.one(Label::Just(Symbol::from(*c)), head),
                Kind::One => self.one(Label::Any, head),
                Kind::Class(class) => self.one(Label::Class(Arc::clone(class)), head),
                Kind::Run => self.run(head),
                Kind::Alternatives(branches) => self.either(branches, head),
                // No sound pattern has these in a component (`lower`).
                Kind::Slash | Kind::Components | Kind::Faulty => head,
            };
        }
        head
    }

    /// Reads any run within a component, then goes on as `rest`.
    fn run(&mut self, rest: Head) -> Head {
        let id = self.alloc(State::default());
        let mut state = State {
            edges: vec![Edge { on: Label::Any, to: id }],
            accept: rest.state.accept,
            all: false,
        };
        state.edges.extend(rest.state.edges);
        self.states[id as usize] = state.clone();
        Head { state, id: Some(id) }
    }

    fn either(&mut self, branches: &[Vec<Token>], mut rest: Head) -> Head {
        self.place(&mut rest);
        let mut head = Head::default();
        for branch in branches {
            let state = self.tokens(branch, rest.clone()).state;
            head.state.edges.extend(state.edges);
            head.state.accept |= state.accept;
        }
        head
    }

    fn parts(&mut self, parts: &[Part]) -> Head {
        let Some((first, rest)) = parts.split_first() else {
            return end();
        };
        match (first, rest) {
            (Part::Components, [Part::One(Component::Any)]) => self.inside(),
            (Part::Components, _) => {
                let rest = self.parts(rest);
                self.components(&rest.state)
            }
            (Part::One(component), []) => self.component(component, end()),
            (Part::One(component), _) => {
                let rest = self.parts(rest);
                let slash = self.one(Label::Just(SLASH), rest);
                self.component(component, slash)
            }
        }
    }

    fn component(&mut self, component: &Component, rest: Head) -> Head {
        match component {
            Component::Any => self.run(rest),
            Component::Glob(glob) => self.tokens(glob.tokens(), rest),
            Component::Literal(name) => {
                let mut head = rest;
                for symbol in symbols(name).collect::<Vec<_>>().into_iter().rev() {
                    head = self.one(Label::Just(symbol), head);
                }
                head
            }
        }
    }

    /// Any number of components, each with its `/`, then `rest`.
    fn components(&mut self, rest: &State) -> Head {
        let within = self.alloc(State::default());
        let mut state = rest.clone();
        state.all = false;
        state.edges.push(Edge { on: Label::Any, to: within });
        let id = self.alloc(state.clone());
        self.states[within as usize].edges = inner(within, id);
        Head { state, id: Some(id) }
    }

    /// One component or more, to the end of the path.
    fn inside(&mut self) -> Head {
        let within = self.alloc(State::default());
        let state =
            State { edges: vec![Edge { on: Label::Any, to: within }], accept: false, all: true };
        let id = self.alloc(state.clone());
        self.states[within as usize] = State { edges: inner(within, id), accept: true, all: true };
        Head { state, id: Some(id) }
    }
}

/// The edges of a state `within` a component, with `start` as the start of the next one.
fn inner(within: u32, start: u32) -> Vec<Edge> {
    vec![Edge { on: Label::Any, to: within }, Edge { on: Label::Just(SLASH), to: start }]
}

/// The end of a pattern.
fn end() -> Head {
    Head { state: State { accept: true, ..State::default() }, id: None }
}
