//! Docker's networks, told by a `docker` that is a script.

use serde_json::json;

use super::Desk;

const COMPOSE: &str = "echo 'services: {}' > compose.yaml";
const USED: &str = "the repository has compose.yaml";

/// A Docker with this many bridges beside its own, and these address pools.
fn docker(bridges: usize, pools: &str) -> String {
    let lines = "echo bridge; ".repeat(bridges);
    format!(
        "case $1 in\nnetwork) echo bridge; echo host; echo null; {lines};;\ninfo) echo '{pools}';;\n\
         *) exit 9;; esac"
    )
}

#[test]
fn networks_are_counted_against_what_runs_at_once() {
    let pool = |state: &str, what: &str, help: Option<&str>, networks: u64, taken: u64| {
        json!({
            "state": state, "what": what, "do": help,
            "docker": true, "used_by": [USED], "networks": networks, "taken": taken,
            "free": networks - taken, "max_parallel": 4,
        })
    };
    let desk = Desk::new(COMPOSE).program("docker", &docker(0, "null"));
    let fine = "Docker has 30 of 31 networks left for up to 4 packages";
    desk.look(&[]).is("docker_pool", &pool("go", fine, None, 31, 1));
    let desk = desk.program("docker", &docker(27, "null"));
    let found = desk.look(&[]);
    let what = "Docker has 3 of 31 networks left, and up to 4 packages may bring one up at once";
    let help = "`docker network prune` clears those that nothing uses; or lower `max_parallel`, or give the \
                engine smaller `default-address-pools`";
    found.is("docker_pool", &pool("warn", what, Some(help), 31, 28));
    assert_eq!(found.code, 4);
    let pools = "[{\"Base\":\"10.0.0.0/16\",\"Size\":24},{\"Base\":\"10.1.0.0/24\",\"Size\":24}]";
    let desk = desk.program("docker", &docker(27, pools));
    let fine = "Docker has 229 of 257 networks left for up to 4 packages";
    desk.look(&[]).is("docker_pool", &pool("go", fine, None, 257, 28));
}

#[test]
fn no_docker_and_no_engine_are_false() {
    let desk = Desk::new(COMPOSE);
    let found = desk.look(&[]);
    found.is(
        "docker_pool",
        &json!({
            "state": "warn",
            "what": format!("there is no `docker` here, and {USED}"),
            "do": "install it, or leave out what needs it",
            "docker": false, "used_by": [USED], "networks": null, "taken": null, "free": null, "max_parallel": 4,
        }),
    );
    let desk = desk.program("docker", "echo 'Cannot connect' >&2; exit 1");
    let what = format!("no Docker engine answers, and {USED}");
    let help = "start the engine (`docker info` says what is wrong), or leave out what needs it";
    let found = desk.look(&[]);
    found.says("docker_pool", "warn", &what, Some(help));
    assert_eq!(found.part("docker_pool")["docker"], false);
}

/// Where there is none and nothing wants one, that is known and no warning.
#[test]
fn no_docker_is_false_where_nothing_uses_it_too() {
    let found = Desk::new("true").look(&[]);
    let part = found.part("docker_pool");
    assert_eq!((&part["docker"], &part["state"]), (&json!(false), &json!("go")), "{part:#}");
}

/// Nobody asks a Docker that nothing uses; and one that hangs holds nobody up.
#[test]
fn docker_is_asked_only_where_it_is_used_and_never_for_long() {
    let hangs = "echo asked >> \"$HOME/asked\"; sleep 1000";
    let desk = Desk::new("true").program("docker", hangs);
    let found = desk.look(&[]);
    assert_eq!(found.part("docker_pool")["docker"], serde_json::Value::Null);
    assert!(!desk.at("home/asked").exists());
    let desk = Desk::new(COMPOSE).program("docker", hangs);
    let said = desk.sop_but(&[], &["preflight"]);
    let found: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    let what = format!("`docker` gave no answer within 3 s, and {USED}");
    assert_eq!(found["docker_pool"]["what"], what, "{}", said.out);
    assert!(desk.at("home/asked").exists());
}
