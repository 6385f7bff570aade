//! Runs told by hand: event after event into a ledger, one second apart.

use sop::event::{
    After, Asked, Classed, Event, LevelShape, NextStep, Record, StopReason, VERSION, WpShape,
};
use sop::ledger::{Candidate, Ledger, LedgerError, Phase, WpState, judge};
use sop::model::approval::Covers;
use sop::model::ids::{CommitId, StageId, TierId, TreeId, WorkerId, WpId};
use sop::model::outcome::{Class, DodClass, End, Problem, Ran};
use sop::model::plan::{Kind, Mode, Risk};
use sop::model::time::{Length, Timestamp};
use sop::model::turn::Fault;
use sop::model::verdict::{Judgment, ReviewFinding, ReviewSeverity, Verdict};

pub fn wp_id(id: &str) -> WpId {
    WpId::new(id).unwrap()
}

pub fn tier(id: &str) -> TierId {
    TierId::new(id).unwrap()
}

pub fn stage_id(id: &str) -> StageId {
    StageId::new(id).unwrap()
}

/// A commit id that is told from others by its first letters.
pub fn commit(name: &str) -> CommitId {
    CommitId(hex(name))
}

pub fn tree(name: &str) -> TreeId {
    TreeId(hex(name))
}

fn hex(name: &str) -> String {
    let mut text: String = name.bytes().map(|b| format!("{b:02x}")).collect();
    text.extend(std::iter::repeat_n('0', 40_usize.saturating_sub(text.len())));
    text.truncate(40);
    text
}

/// A command that ended as `end` says.
pub fn ran(run: &str, end: End) -> Ran {
    let log = format!("logs/{}.log", run.split(' ').next().unwrap_or("x"));
    Ran { run: run.to_owned(), end, lines: 12, log, log_error: None, took: Length::millis(2300) }
}

pub const OK: End = End::Exit { code: 0 };
pub const FAILS: End = End::Exit { code: 1 };

/// A WP on tier `standard` with two DoD commands, three rounds, no review, that waits for nothing.
pub fn shape(id: &str) -> WpShape {
    WpShape {
        id: wp_id(id),
        title: format!("Do {id}"),
        tier: tier("standard"),
        risk: Risk::Medium,
        kind: Kind::Change,
        rounds: 3,
        dods: 2,
        reviewed: false,
        allow_empty: false,
        after: After::Base,
        findings: Vec::new(),
    }
}

pub fn after(id: &str, needs: &[&str]) -> WpShape {
    WpShape { after: After::Wps(needs.iter().map(|id| wp_id(id)).collect()), ..shape(id) }
}

pub fn after_stage(id: &str, stage: &str) -> WpShape {
    WpShape { after: After::Stage(stage_id(stage)), ..shape(id) }
}

pub fn level(stage: &str, wps: Vec<WpShape>) -> LevelShape {
    LevelShape { stage: stage_id(stage), wps }
}

/// A run under way.
#[derive(Debug, Clone)]
pub struct Story {
    pub records: Vec<Record>,
    pub ledger: Ledger,
    pub now: Timestamp,
}

impl Story {
    /// A run that was created, approved and taken by an engine.
    pub fn new(mode: Mode, levels: Vec<LevelShape>) -> Self {
        let mut story = Self::created(mode, levels);
        let plan_sha256 = "5f".repeat(32);
        let by = sop::event::ApprovedBy::Flag;
        story.say(Event::RunApproved { by, plan_sha256, covers: Covers::default(), to: None });
        story.engine();
        story
    }

    /// A run that was created and nothing else.
    pub fn created(mode: Mode, levels: Vec<LevelShape>) -> Self {
        let now = Timestamp("2026-03-04T05:06:07Z".parse().unwrap());
        let event = Event::RunCreated {
            beside_sha256: None,
            version: VERSION,
            run: sop::model::ids::RunId::new("settings-1").unwrap(),
            goal: "Move the settings page to the new client.".to_owned(),
            plan_sha256: "5f".repeat(32),
            base: commit("base"),
            mode,
            levels,
            verify: false,
            delivery: None,
        };
        let record = Record { seq: 1, at: now, event };
        let ledger = Ledger::open(&record).unwrap();
        Self { records: vec![record], ledger, now }
    }

    /// Lets `length` pass.
    pub fn wait(&mut self, length: Length) -> &mut Self {
        self.now = self.now.after(length);
        self
    }

    /// Tells `event`, a second after the last.
    pub fn say(&mut self, event: Event) -> &mut Self {
        if let Err(error) = self.try_say(event) {
            panic!("{error}");
        }
        self
    }

    /// Tells `event` if it can follow.
    pub fn try_say(&mut self, event: Event) -> Result<(), LedgerError> {
        let record = self.next(event);
        self.ledger.apply(&record)?;
        self.now = record.at;
        self.records.push(record);
        Ok(())
    }

    /// The record that would tell `event`.
    pub fn next(&self, event: Event) -> Record {
        let seq = self.ledger.seq + 1;
        Record { seq, at: self.now.after(Length::secs(1)), event }
    }

    pub fn wp(&self, id: &str) -> &WpState {
        self.ledger.wp(&wp_id(id)).unwrap()
    }

    pub fn phase(&self, id: &str) -> Phase {
        self.wp(id).phase
    }

    pub fn startable(&self) -> Vec<&str> {
        self.ledger.startable().into_iter().map(|wp| wp.id.as_str()).collect()
    }

    pub fn engine(&mut self) -> &mut Self {
        self.say(Event::EngineStarted { pid: 4242, sop: "0.1.0".to_owned() })
    }

    pub fn stop(&mut self, why: StopReason) -> &mut Self {
        self.say(Event::EngineStopped { why })
    }

    pub fn started(&mut self, id: &str) -> &mut Self {
        let branch = format!("sop/settings-1/{id}");
        let (base, worktree) = (self.ledger.trunk.clone(), format!("/w/settings-1/{id}"));
        self.say(Event::WpStarted { wp: wp_id(id), base, branch, worktree })
    }

    pub fn provisioned(&mut self, id: &str) -> &mut Self {
        self.say(Event::WpProvisioned { wp: wp_id(id), copied: vec![".env".to_owned()] })
    }

    pub fn classed(&mut self, id: &str, found: &[(&str, DodClass)]) -> &mut Self {
        let end = |class: DodClass| match class {
            DodClass::Green => OK,
            DodClass::Red => FAILS,
            DodClass::Broken => End::Exit { code: 127 },
        };
        let classes = found.iter().map(|(run, c)| Classed { class: *c, ran: ran(run, end(*c)) });
        self.say(Event::DodClassed { wp: wp_id(id), classes: classes.collect() })
    }

    /// Up to the brief of the first round.
    pub fn briefed(&mut self, id: &str) -> &mut Self {
        self.started(id).provisioned(id);
        self.classed(id, &[("cargo check", DodClass::Green), ("cargo test", DodClass::Red)])
    }

    /// The next round's brief and, on the WP's tier, its first worker.
    pub fn work(&mut self, id: &str) -> &mut Self {
        self.round(id).attempt(id)
    }

    pub fn round(&mut self, id: &str) -> &mut Self {
        let (round, tier) = (self.wp(id).round + 1, self.wp(id).tier.clone());
        let brief = format!("briefs/{id}-{round}.md");
        self.say(Event::RoundStarted { wp: wp_id(id), round, tier, brief })
    }

    pub fn attempt(&mut self, id: &str) -> &mut Self {
        let tier = self.wp(id).tier.clone();
        self.attempt_on(id, &tier)
    }

    pub fn attempt_on(&mut self, id: &str, tier: &TierId) -> &mut Self {
        let (round, attempt) = (self.wp(id).round, self.wp(id).attempt + 1);
        self.say(Event::AttemptStarted {
            wp: wp_id(id),
            round,
            attempt,
            tier: tier.clone(),
            guard: String::new(),
            worker: worker_of(tier),
            prompt: format!("briefs/{id}-{round}.md"),
            session: None,
        })
    }

    pub fn ended(&mut self, id: &str, end: End) -> &mut Self {
        let attempt = self.wp(id).attempt;
        let ran = Ran { log: format!("logs/{id}-work-{attempt}.log"), ..ran("worker", end) };
        self.say(attempt_ended(wp_id(id), attempt, ran))
    }

    /// The attempt ends with this fault of its provider or its own.
    pub fn faulted(&mut self, id: &str, fault: Fault) -> &mut Self {
        let attempt = self.wp(id).attempt;
        let mut event = attempt_ended(wp_id(id), attempt, ran("agent", FAILS));
        if let Event::AttemptEnded { fault: told, .. } = &mut event {
            *told = Some(fault);
        }
        self.say(event)
    }

    /// The attempt ends with these questions.
    pub fn asks(&mut self, id: &str, asks: Vec<Asked>) -> &mut Self {
        let attempt = self.wp(id).attempt;
        let mut event = attempt_ended(wp_id(id), attempt, ran("agent", OK));
        if let Event::AttemptEnded { asks: told, .. } = &mut event {
            *told = asks;
        }
        self.say(event)
    }

    /// Taken by the lead, and handed over.
    pub fn taken(&mut self, id: &str) -> &mut Self {
        self.say(Event::WpTaken { wp: wp_id(id), by: "anna".to_owned() });
        self.handed_over(id)
    }

    pub fn handed_over(&mut self, id: &str) -> &mut Self {
        let branch_at = Some(commit("base"));
        self.say(Event::WpHandedOver { wp: wp_id(id), tree: tree("found"), branch_at })
    }

    pub fn scope(&mut self, id: &str, left: &str, problems: Vec<Problem>) -> &mut Self {
        let (round, pass) = (self.wp(id).round, self.wp(id).pass + 1);
        self.say(Event::ScopeChecked {
            wp: wp_id(id),
            round,
            pass,
            tree: tree(left),
            against: commit("base"),
            changed: 3,
            problems,
            notes: Vec::new(),
            by_lead: Vec::new(),
        })
    }

    pub fn dod(&mut self, id: &str, end: End) -> &mut Self {
        let (round, pass) = (self.wp(id).round, self.wp(id).pass);
        let index = self.wp(id).proved.len();
        let run = ["cargo check", "cargo test"].get(index).copied().unwrap_or("true");
        let tail = (!end.success()).then(|| "thread 'main' panicked\nfailed".to_owned());
        let log = format!("logs/{id}-dod-{}-{round}.log", index + 1);
        let ran = Ran { log, ..ran(run, end) };
        let index = u32::try_from(index).unwrap();
        self.say(Event::DodRan { wp: wp_id(id), round, pass, index, ran, tail })
    }

    /// Every DoD command passes, and changes nothing.
    pub fn proven(&mut self, id: &str) -> &mut Self {
        while self.phase(id) == Phase::Proving {
            self.dod(id, OK);
        }
        if self.phase(id) == Phase::Rechecking {
            let left = self.wp(id).tree.clone().unwrap();
            let (round, pass) = (self.wp(id).round, self.wp(id).pass + 1);
            self.say(Event::ScopeChecked {
                wp: wp_id(id),
                round,
                pass,
                tree: left,
                against: commit("base"),
                changed: 3,
                problems: Vec::new(),
                notes: Vec::new(),
                by_lead: Vec::new(),
            });
        }
        self
    }

    pub fn reviewed(&mut self, id: &str, by: &str, findings: &[(&str, u32, &str)]) -> &mut Self {
        let finding = |(file, line, message): &(&str, u32, &str)| ReviewFinding {
            file: Some((*file).to_owned()),
            line: Some(*line),
            severity: ReviewSeverity::Major,
            message: (*message).to_owned(),
        };
        let verdict = Verdict {
            verdict: if findings.is_empty() { Judgment::Approve } else { Judgment::RequestChanges },
            summary: String::new(),
            findings: findings.iter().map(finding).collect(),
        };
        let round = self.wp(id).round;
        self.say(Event::Reviewed { wp: wp_id(id), round, by: by.to_owned(), verdict })
    }

    /// The round is judged as the ledger judges it.
    pub fn judged(&mut self, id: &str, escalate_to: Option<&str>) -> &mut Self {
        let escalate_to = escalate_to.map(tier);
        let (class, next) = judge(self.wp(id), escalate_to.as_ref());
        self.round_ended(id, class, next)
    }

    pub fn round_ended(&mut self, id: &str, class: Option<Class>, next: NextStep) -> &mut Self {
        let (round, problems) = (self.wp(id).round, self.wp(id).problems.clone());
        self.say(Event::RoundEnded { wp: wp_id(id), round, class, problems, next })
    }

    pub fn committed(&mut self, id: &str) -> &mut Self {
        let tree = self.wp(id).tree.clone().unwrap();
        self.say(Event::WpCommitted { wp: wp_id(id), commit: commit(id), tree })
    }

    /// A round in which the second DoD command fails on what the worker `left`.
    pub fn failing_round(&mut self, id: &str, left: &str, escalate_to: Option<&str>) -> &mut Self {
        self.work(id).ended(id, OK).scope(id, left, Vec::new());
        self.dod(id, OK).dod(id, FAILS).judged(id, escalate_to)
    }

    /// From the brief to the commit without a fault.
    pub fn good_round(&mut self, id: &str) -> &mut Self {
        self.work(id).ended(id, OK).scope(id, &format!("{id}-tree"), Vec::new()).proven(id);
        self.judged(id, None).committed(id)
    }

    /// From nothing to the commit without a fault.
    pub fn pass(&mut self, id: &str) -> &mut Self {
        self.briefed(id).good_round(id)
    }

    /// From nothing to a person's decision, in three rounds.
    pub fn escalate(&mut self, id: &str) -> &mut Self {
        self.briefed(id);
        for round in ["one", "two", "three"] {
            self.failing_round(id, &format!("{id}-{round}"), None);
        }
        self
    }

    pub fn gate_started(&mut self, level: usize, wps: &[&str]) -> &mut Self {
        let gate = u32::try_from(self.ledger.gates.len()).unwrap() + 1;
        let onto = self.ledger.trunk.clone();
        let wps = wps.iter().map(|id| wp_id(id)).collect();
        self.say(Event::GateStarted { gate, level, onto, wps })
    }

    pub fn gate_merged(&mut self) -> &mut Self {
        let gate = self.gate();
        self.say(Event::GateMerged {
            gate,
            branch: format!("sop-stage/settings-1/{gate}"),
            commit: commit(&format!("gate{gate}")),
            tree: tree(&format!("merged{gate}")),
        })
    }

    pub fn gate_passed(&mut self) -> &mut Self {
        let gate = self.gate();
        self.say(Event::GatePassed { gate, commit: commit(&format!("gate{gate}")) })
    }

    pub fn gate_failed(&mut self, named: &[&str], problems: Vec<Problem>) -> &mut Self {
        let gate = self.gate();
        let wps = named.iter().map(|id| wp_id(id)).collect();
        self.say(Event::GateFailed { gate, class: Class::Work, wps, problems })
    }

    /// A gate that holds.
    pub fn gate_through(&mut self, level: usize, wps: &[&str]) -> &mut Self {
        self.gate_started(level, wps).gate_merged().gate_passed()
    }

    pub fn gate(&self) -> u32 {
        self.ledger.gates.last().unwrap().gate
    }

    pub fn retried(&mut self, id: &str) -> &mut Self {
        self.say(Event::WpRetried { wp: wp_id(id), by: "anna".to_owned() })
    }

    pub fn cancelled(&mut self, id: &str) -> &mut Self {
        self.say(Event::WpCancelled { wp: wp_id(id), by: "anna".to_owned() })
    }

    pub fn blocked(&mut self, id: &str, problem: Problem, halt: bool) -> &mut Self {
        self.say(Event::WpBlocked { wp: wp_id(id), problem, halt })
    }

    /// Everything that the ledger says must be deferred, is.
    pub fn deferred(&mut self) -> &mut Self {
        loop {
            let pairs = self.ledger.to_defer();
            if pairs.is_empty() {
                return self;
            }
            for (wp, because) in pairs {
                self.say(Event::WpDeferred { wp, because });
            }
        }
    }

    pub fn finished(&mut self) -> &mut Self {
        let outcome = self.ledger.standing();
        self.say(Event::RunFinished { outcome })
    }
}

/// An attempt that ended and told nothing.
pub fn attempt_ended(wp: WpId, attempt: u32, ran: Ran) -> Event {
    Event::AttemptEnded {
        wp,
        attempt,
        ran,
        left_behind: 0,
        report: None,
        turn: None,
        fault: None,
        asks: Vec::new(),
        problems: Vec::new(),
    }
}

/// The worker of a tier: in these stories each has its own.
pub fn worker_of(tier: &TierId) -> WorkerId {
    WorkerId::new(format!("{tier}-agent")).unwrap()
}

/// Tiers, each with its worker.
pub fn with_workers(tiers: &[TierId]) -> Vec<(TierId, WorkerId)> {
    tiers.iter().map(|tier| (tier.clone(), worker_of(tier))).collect()
}

/// What a round may work on.
pub fn candidates(tiers: &[(TierId, WorkerId)]) -> Vec<Candidate<'_>> {
    tiers.iter().map(|(tier, worker)| Candidate { tier, worker }).collect()
}
