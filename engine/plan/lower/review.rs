//! `[review]`, `[verify]` and `[critic]`.

use super::names::Names;
use super::{Notes, commands, id};
use crate::model::critic::{self, When};
use crate::model::plan::{self as model, Review};
use crate::plan::document::{Critic, Dod, ReviewTable, Tier, Verify};
use crate::plan::scalar::Name;
use crate::plan::shape::{Either, Named, Table};
use crate::plan::wording::quoted;

/// The lens of a review that names none.
const LENS: &str = "quality";

/// Review by a worker, as `[review]` says.
pub fn table(table: ReviewTable, names: &Names, notes: &mut Notes) -> Review {
    names.tier(&table.tier, || "/review/tier".to_owned(), notes);
    Review::Worker {
        tier: id(table.tier.0),
        lenses: lenses(table.lenses, notes),
        block_from: table.block_from.map_or_else(model::block_from, |word| word.0),
    }
}

fn lenses(said: Option<Vec<Name>>, notes: &mut Notes) -> Vec<String> {
    let Some(said) = said else { return vec![LENS.to_owned()] };
    if said.is_empty() {
        notes
            .error("/review/lenses", "bad-lenses", "this review looks for nothing: it has no lens")
            .help("name at least one, such as \"quality\", or leave `lenses` out");
    }
    let mut lenses: Vec<String> = Vec::with_capacity(said.len());
    for (i, lens) in said.into_iter().enumerate() {
        if let Some(first) = lenses.iter().position(|known| *known == lens.0) {
            notes
                .error(
                    format!("/review/lenses/{i}"),
                    "bad-lenses",
                    format!("the lens {} is there twice", quoted(&lens)),
                )
                .label("again")
                .related("first", format!("/review/lenses/{first}"))
                .help("leave one out");
        }
        lenses.push(lens.0);
    }
    lenses
}

/// The last look at the whole, which blocks from where reviews do if it does not say. Where nothing is integrated, or nothing is asked for, that is noted.
pub fn verify(
    table: &Table<Verify>,
    staged: bool,
    review: Option<&Review>,
    names: &Names,
    notes: &mut Notes,
) -> model::Verify {
    let Verify { review_tier, block_from, live } = &table.0;
    if !staged {
        notes
            .error(
                "/verify",
                "verify-independent",
                "these work packages are independent: nothing is integrated that could be verified",
            )
            .looked_in("/stage")
            .help("give the plan stages or `needs`, or leave `[verify]` out");
    }
    if review_tier.is_none() && live.is_empty() {
        notes
            .error("/verify", "empty-verify", "`[verify]` asks for nothing")
            .help("name a `review_tier`, or `live` commands, or leave the table out");
    }
    if let Some(tier) = review_tier {
        names.tier(tier, || "/verify/review_tier".to_owned(), notes);
    }
    if review_tier.is_none() && block_from.is_some() {
        notes
            .warning(
                "/verify/block_from",
                "idle-key",
                "nobody reads the whole, so nothing is found that could block",
            )
            .key()
            .help("name a `review_tier`, or leave `block_from` out");
    }
    let as_reviews = match review {
        Some(Review::Worker { block_from, .. }) => *block_from,
        _ => model::block_from(),
    };
    let mut commands = Vec::with_capacity(live.len());
    for (i, entry) in live.iter().enumerate() {
        let at = || format!("/verify/live/{i}");
        if let Either::Long(entry) = entry
            && entry.expect.is_some()
        {
            notes
                .error(
                    format!("{}/expect", at()),
                    "live-expect",
                    "a live command is run on the integrated tree and never on the base",
                )
                .key()
                .help("leave `expect` out");
        }
        commands.extend(commands::dod(Dod::clone(entry), at, notes));
    }
    model::Verify {
        review_tier: review_tier.as_ref().map(|tier| id(tier.0.clone())),
        block_from: block_from.as_ref().map_or(as_reviews, |word| word.0),
        live: commands,
    }
}

/// Who reads the plan: whom the table names, or else the tier that is called so.
pub fn critic(
    table: Option<Table<Critic>>,
    tiers: &Named<Name, Table<Tier>>,
    names: &Names,
    notes: &mut Notes,
) -> Option<critic::Critic> {
    let called_so = tiers.0.keys().find(|name| name.0 == critic::TIER).cloned();
    let Some(Table(Critic { tier, when })) = table else {
        return called_so.map(|name| critic::Critic { tier: Some(id(name.0)), when: When::Auto });
    };
    let when = when.map(|word| word.0).unwrap_or_default();
    if let Some(tier) = &tier {
        names.tier(tier, || "/critic/tier".to_owned(), notes);
    }
    let tier = tier.or(called_so);
    if tier.is_none() && when != When::Never {
        let message = "`[critic]` names nobody who reads";
        notes
            .error("/critic", "critic-nobody", message)
            .help("name a `tier`, or say `when = \"never\"`, or leave the table out");
    }
    Some(critic::Critic { tier: tier.map(|name| id(name.0)), when })
}
