//! What providers say, as a class and as a time.

use jiff::Timestamp;
use sop::model::turn::FaultClass::{self, Auth, Crash, Credit, ModelUnknown, Provider, RateLimit};
use sop::worker::fault::{of_status, reset_time, told};

fn now() -> Timestamp {
    "2026-11-29T20:00:00Z".parse().expect("an instant")
}

#[test]
fn texts_name_their_class() {
    let texts: &[(FaultClass, &str)] = &[
        (Credit, "Your credit balance is too low to access the Anthropic API."),
        (
            Credit,
            r#"429 {"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#,
        ),
        (Credit, "unexpected status 402 Payment Required"),
        (RateLimit, "exceeded retry limit, last status: 429 Too Many Requests"),
        (RateLimit, "API Error: Request rejected (429) · slow down"),
        (RateLimit, "You've hit your usage limit. Try again at 3:04 PM."),
        (RateLimit, "Claude AI usage limit reached|1796000000"),
        (RateLimit, r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#),
        (Auth, "unexpected status 401 Unauthorized: bad key"),
        (Auth, "Invalid API key · Please run /login"),
        (Auth, "Missing environment variable: `STUB_KEY`."),
        (Auth, "HTTP 403: forbidden"),
        (ModelUnknown, "The model `gpt-9` does not exist or you do not have access to it."),
        (ModelUnknown, "There's an issue with the selected model (x). It may not exist"),
        (ModelUnknown, "models/gemini-9 is not found for API version v1beta"),
        (Provider, "We're currently experiencing high demand, which may cause temporary errors."),
        (
            Provider,
            "stream disconnected before completion: stream closed before response.completed",
        ),
        (Provider, "API Error: 529 Overloaded"),
        (Provider, "unexpected status 503 Service Unavailable"),
        (Provider, "connect ECONNREFUSED 127.0.0.1:9"),
        (Crash, "Cannot read properties of undefined (reading 'x')"),
        (Crash, "failed to parse line 402 of the config"),
        (Crash, "process 429 is gone, 500 files left"),
    ];
    for (class, text) in texts {
        assert_eq!(told(text, None, now()).class, *class, "{text}");
    }
}

#[test]
fn a_text_that_tells_more_than_its_status_wins() {
    let fault = told("insufficient_quota", of_status(429), now());
    assert_eq!(fault.class, Credit);
    let fault = told("no idea", of_status(429), now());
    assert_eq!(fault.class, RateLimit);
    assert_eq!(of_status(400), None);
}

#[test]
fn a_message_is_one_short_harmless_line() {
    let fault = told(&format!("a\n\u{1b}[31mb\u{202e}\tc {}", "x".repeat(5000)), None, now());
    assert!(fault.message.starts_with("a b\\u{202e} c"), "{}", fault.message);
    assert!(fault.message.chars().count() < 450);
}

#[test]
fn times_to_try_again_are_understood() {
    let cases = [
        ("Rate limit reached. Please try again in 20s.", "2026-11-29T20:00:20Z"),
        ("try again in 1h2m3s", "2026-11-29T21:02:03Z"),
        ("Try again in 2 days 3 hours and 5 minutes.", "2026-12-01T23:05:00Z"),
        ("Please retry in 26.5s", "2026-11-29T20:00:26.5Z"),
        ("retry-after: 120", "2026-11-29T20:02:00Z"),
        (r#"{"retryDelay":"31s"}"#, "2026-11-29T20:00:31Z"),
        ("try again in 250ms", "2026-11-29T20:00:00.25Z"),
        ("Claude AI usage limit reached|1795985000", "2026-11-29T20:43:20Z"),
        ("resets at 2026-11-30T01:00:00Z", "2026-11-30T01:00:00Z"),
        ("You've hit your limit · resets 9pm (UTC)", "2026-11-29T21:00:00Z"),
        ("resets 3:45am (UTC)", "2026-11-30T03:45:00Z"),
        ("resets at 15:04 (Etc/UTC)", "2026-11-30T15:04:00Z"),
        // As claude has it for a limit that is further off than a day, and in the words that it had before.
        ("You've hit your weekly limit · resets Nov 30, 3pm (UTC)", "2026-11-30T15:00:00Z"),
        ("resets Dec 2 at 3:45pm (Europe/Berlin)", "2026-12-02T14:45:00Z"),
        ("resets Dec 3, 12am (UTC)", "2026-12-03T00:00:00Z"),
        ("resets December 3 (UTC)", "2026-12-03T00:00:00Z"),
        ("resets 3 Dec at 15:04 (UTC)", "2026-12-03T15:04:00Z"),
        ("resets on Mon 9:00 AM (UTC)", "2026-11-30T09:00:00Z"),
        ("resets Sunday 9pm (UTC)", "2026-11-29T21:00:00Z"),
        ("resets Sunday 7pm (UTC)", "2026-12-06T19:00:00Z"),
        ("resets Thu Dec 3, 3pm (UTC)", "2026-12-03T15:00:00Z"),
        // As codex has it.
        (
            "You've hit your usage limit. Try again at Dec 3rd, 2026 3:04 PM (UTC).",
            "2026-12-03T15:04:00Z",
        ),
    ];
    for (text, wanted) in cases {
        let at = reset_time(text, now()).map(|at| at.0);
        assert_eq!(at, Some(wanted.parse().expect("an instant")), "{text}");
    }
}

#[test]
fn a_year_begins_and_a_zone_that_is_not_named_is_this_machines() {
    let late = "2026-12-30T20:00:00Z".parse().expect("an instant");
    let at = |text: &str| reset_time(text, late).map(|at| at.0.to_string());
    assert_eq!(at("resets Jan 2, 3pm (UTC)").as_deref(), Some("2027-01-02T15:00:00Z"));
    assert_eq!(at("resets Jan 2, 2027, 3pm (UTC)").as_deref(), Some("2027-01-02T15:00:00Z"));
    // What is over is told as it stands, and nobody waits for it.
    assert_eq!(at("resets Dec 30, 3pm (UTC)").as_deref(), Some("2026-12-30T15:00:00Z"));
    let here = reset_time("try again at Jan 3rd, 2027 3:04 PM.", late).expect("a time").0;
    let here = here.to_zoned_datetime(jiff::tz::TimeZone::system());
    assert_eq!(here.datetime().to_string(), "2027-01-03T15:04:00");
}

#[test]
fn what_is_no_time_is_not_guessed_at() {
    let texts = [
        "rate limit reached",
        "try again later",
        "try again in a while",
        "resets 5",
        "resets 25:99 (UTC)",
        "try again in 99999999999999999999 days",
        "limit reached|9999999999",
        "your limit resets monthly",
        "not until may be",
        "resets Nov 31 at 3pm (UTC)",
        "resets Nov",
    ];
    for text in texts {
        assert_eq!(reset_time(text, now()), None, "{text}");
    }
}
