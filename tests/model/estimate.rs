//! What like work has used, and what that says of more.

use std::time::Duration;

use sop::model::estimate::{Estimate, Sample, Spread};
use sop::model::time::Length;
use sop::model::turn::Usd;

fn told(usd: f64, tokens: u64, secs: u64) -> Sample {
    Sample { usd: Some(Usd::from(usd)), tokens: Some(tokens), took: Some(Length::secs(secs)) }
}

#[test]
fn nothing_is_said_of_nothing() {
    assert_eq!(Estimate::of(&[]), None);
    assert_eq!(Estimate::sum(&[]), None);
}

#[test]
fn an_odd_number_has_one_in_the_middle() {
    let estimate = Estimate::of(&[told(3.0, 30, 9), told(0.5, 10, 1), told(1.0, 900, 5)]).unwrap();
    let usd = Spread { of: 3, low: Usd::from(0.5), median: Usd::from(1.0), high: Usd::from(3.0) };
    assert_eq!(estimate.of, 3);
    assert_eq!(estimate.usd, Some(usd));
    assert_eq!(estimate.tokens, Some(Spread { of: 3, low: 10, median: 30, high: 900 }));
    let secs = Length::secs;
    let took = Spread { of: 3, low: secs(1), median: secs(5), high: secs(9) };
    assert_eq!(estimate.took, Some(took));
}

#[test]
fn an_even_number_is_halved_between_two() {
    let all = [told(1.0, 10, 1), told(2.0, 40, 2), told(9.0, 15, 60), told(1.0, 20, 3)];
    let estimate = Estimate::of(&all).unwrap();
    assert_eq!(estimate.usd.unwrap().median, Usd::from(1.5));
    assert_eq!(estimate.tokens, Some(Spread { of: 4, low: 10, median: 17, high: 40 }));
    assert_eq!(estimate.took.unwrap().median, Length(Duration::from_millis(2500)));
}

#[test]
fn one_is_all_of_it() {
    let estimate = Estimate::of(&[told(1.0, 10, 1)]).unwrap();
    assert_eq!(estimate.tokens, Some(Spread { of: 1, low: 10, median: 10, high: 10 }));
}

#[test]
fn what_was_not_told_is_no_zero() {
    let silent = Sample { tokens: Some(50), ..Sample::default() };
    let estimate = Estimate::of(&[silent, told(4.0, 10, 1)]).unwrap();
    assert_eq!((estimate.of, estimate.usd.unwrap().of), (2, 1));
    assert_eq!(estimate.usd.unwrap().low, Usd::from(4.0));
    assert_eq!(estimate.tokens.unwrap().of, 2);
    let never = Estimate::of(&[silent, silent]).unwrap();
    assert_eq!((never.usd, never.took), (None, None));
}

#[test]
fn a_run_is_the_sum_of_its_parts() {
    let light = Estimate::of(&[told(1.0, 10, 1), told(3.0, 30, 3)]).unwrap();
    let silent = Estimate::of(&[Sample { tokens: Some(7), ..Sample::default() }]).unwrap();
    let run = Estimate::sum(&[light, light, silent]).unwrap();
    assert_eq!(run.of, 3);
    let usd = Spread { of: 2, low: Usd::from(2.0), median: Usd::from(4.0), high: Usd::from(6.0) };
    assert_eq!(run.usd, Some(usd));
    assert_eq!(run.tokens, Some(Spread { of: 3, low: 27, median: 47, high: 67 }));
    assert_eq!(Estimate::sum(&[silent]).unwrap().tokens.unwrap().of, 1);
}

#[test]
fn no_amount_is_too_much() {
    let huge = Sample {
        usd: Some(Usd(u64::MAX)),
        tokens: Some(u64::MAX),
        took: Some(Length(Duration::MAX)),
    };
    let estimate = Estimate::of(&[huge, huge]).unwrap();
    let run = Estimate::sum(&[estimate, estimate]).unwrap();
    assert_eq!(run.tokens.unwrap().high, u64::MAX);
}
