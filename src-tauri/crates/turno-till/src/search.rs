//! What somebody types to find a sale, and which sales are meant.
//!
//! A sale has terms: its number, seat, amount, day, the ways it was paid, the words of its buyer and of what was sold,
//! each behind a letter for its kind. A typed word has meanings, of which one must hold: `12` may be a number, a seat or
//! an amount. All words must hold. Invariant: a span of terms is all that is ever compared, so that the index
//! (`store/sale_terms.rs`) and a look at the sale itself cannot disagree. Pure: no rows, no clock.

use jiff::civil::Date;
use turno_domain::{Currency, Money};

use crate::catalog::words;
use crate::clock::{Millis, rfc3339};
use crate::view::TenderMethod;

/// A name of 120 letters and more fits; what is longer came from no keyboard.
const TEXT_LIMIT: usize = 200;
/// More words make nothing clearer.
const WORDS_LIMIT: usize = 12;

const NUMBER: char = 'n';
const SEAT: char = 's';
const AMOUNT: char = 'a';
const DAY: char = 'd';
const TENDER: char = 't';
const WORD: char = 'w';

/// What of a sale it is found by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub external_transaction_id: String,
    pub occurred_at: Millis,
    pub amount_minor: i64,
    pub description: String,
    pub route: Option<String>,
    pub seat: Option<String>,
    pub buyer_name: Option<String>,
    /// Methods as words, e.g. `cash wallet`; nothing for a sale that another till made.
    pub paid_in: Option<String>,
}

impl Facts {
    /// May hold one twice.
    #[must_use]
    pub fn terms(&self) -> Vec<String> {
        let number = self.external_transaction_id.split('-').map(|part| term(NUMBER, &plain_number(part)));
        let mut terms: Vec<String> = number.collect();
        terms.push(term(AMOUNT, &self.amount_minor.to_string()));
        terms.push(day_term(&rfc3339(self.occurred_at)));
        terms.extend(self.seat.iter().map(|seat| term(SEAT, &words(seat).concat())));
        terms.extend(self.paid_in.iter().flat_map(|it| it.split(' ')).map(|method| term(TENDER, method)));
        let texts = [Some(&self.description), self.route.as_ref(), self.buyer_name.as_ref()];
        terms.extend(texts.into_iter().flatten().flat_map(|text| words(text)).map(|word| term(WORD, &word)));
        terms
    }
}

/// Terms from one to another, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: String,
    pub to: String,
}

impl Span {
    fn exactly(kind: char, text: &str) -> Self {
        let from = term(kind, text);
        Self { to: from.clone(), from }
    }

    fn beginning(kind: char, text: &str) -> Self {
        let from = term(kind, text);
        Self { to: format!("{from}{}", char::MAX), from }
    }

    #[must_use]
    pub fn is_one_term(&self) -> bool {
        self.from == self.to
    }

    fn holds(&self, terms: &[String]) -> bool {
        terms.iter().any(|term| (self.from.as_str()..=self.to.as_str()).contains(&term.as_str()))
    }
}

/// All of its spans must hold.
pub type Meaning = Vec<Span>;
/// One of its meanings must hold.
pub type Word = Vec<Meaning>;

/// What is looked for: all words must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    words: Vec<Word>,
}

impl Query {
    /// Reads what was typed. `today` is the day at the till.
    #[must_use]
    pub fn parse(text: &str, today: Date, currency: Currency) -> Self {
        let mut query = Self::default();
        if text.chars().count() > TEXT_LIMIT {
            // A word without a meaning holds for nothing.
            query.words.push(Word::new());
            return query;
        }
        let mut typed = text.split_whitespace();
        while let (Some(token), true) = (typed.next(), query.words.len() < WORDS_LIMIT) {
            let word = match after_sign(token) {
                // The sign alone is the beginning of an amount.
                Some("") => typed.next().map(|figure| meant_by_amount(figure, currency)),
                Some(figure) => Some(meant_by_amount(figure, currency)),
                None => Some(meant_by(token, today, currency)),
            };
            query.words.extend(word.filter(|meanings| !meanings.is_empty()));
        }
        query.words.sort_by_key(|word| !word.iter().flatten().all(Span::is_one_term));
        query
    }

    #[must_use]
    pub fn paid_in(mut self, method: TenderMethod) -> Self {
        self.words.insert(0, vec![vec![Span::exactly(TENDER, method.as_word())]]);
        self
    }

    /// Both days included, as `2026-11-12`.
    #[must_use]
    pub fn between_days(mut self, from: Date, to: Date) -> Self {
        let span = Span { from: day_term(&from.to_string()), to: day_term(&to.to_string()) };
        self.words.insert(0, vec![vec![span]]);
        self
    }

    /// Those that are one term first: they leave the least to look at.
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    #[must_use]
    pub fn asks_how_it_was_paid(&self) -> bool {
        self.words.iter().flatten().flatten().any(|span| span.from.starts_with(TENDER))
    }

    #[must_use]
    pub fn is_met_by(&self, facts: &Facts) -> bool {
        self.words.is_empty() || self.is_met_by_terms(&facts.terms())
    }

    #[must_use]
    pub fn is_met_by_terms(&self, terms: &[String]) -> bool {
        let holds = |meaning: &Meaning| meaning.iter().all(|span| span.holds(terms));
        self.words.iter().all(|word| word.iter().any(holds))
    }
}

fn term(kind: char, text: &str) -> String {
    format!("{kind}{text}")
}

/// `0127` and `127` are one number.
fn plain_number(part: &str) -> String {
    if part.is_empty() || !is_figure(part) {
        return part.to_lowercase();
    }
    let plain = part.trim_start_matches('0');
    if plain.is_empty() { "0".to_owned() } else { plain.to_owned() }
}

fn is_figure(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_digit())
}

/// Of a time or a day that begins `2026-11-12`.
fn day_term(time: &str) -> String {
    term(DAY, &time.get(..10).unwrap_or(time).replace('-', ""))
}

/// What follows `S/` or `S/.`; nothing when the token does not begin so.
fn after_sign(token: &str) -> Option<&str> {
    let rest = token.strip_prefix(['S', 's'])?.strip_prefix('/')?;
    Some(rest.strip_prefix('.').unwrap_or(rest))
}

fn meant_by_amount(figure: &str, currency: Currency) -> Word {
    amount(figure, currency).into_iter().map(|span| vec![span]).collect()
}

/// `25`, `25.5`, `25,50` and `1,250.00`.
fn amount(figure: &str, currency: Currency) -> Option<Span> {
    let decimal = figure.rfind(['.', ',']);
    let mark = decimal.and_then(|at| figure[at..].chars().next());
    let plain: String =
        figure.chars().filter(|letter| !matches!(letter, '.' | ',') || Some(*letter) == mark).collect();
    let money = Money::parse_typed(&plain, currency).ok()?;
    Some(Span::exactly(AMOUNT, &money.minor().to_string()))
}

fn meant_by(token: &str, today: Date, currency: Currency) -> Word {
    let mut meanings: Word = meant_by_amount(token, currency);
    meanings.extend(day(token, today).map(|span| vec![span]));
    if is_figure(token) {
        meanings.push(vec![Span::exactly(NUMBER, &plain_number(token))]);
        meanings.push(vec![Span::beginning(SEAT, token)]);
        // Whole: `Línea 7` is meant by a 7, and the bus at `20:30` not by a 20.
        meanings.push(vec![Span::exactly(WORD, token)]);
        return meanings;
    }
    if !meanings.is_empty() && !token.chars().any(char::is_alphabetic) {
        return meanings;
    }
    meanings.extend(parts_of_a_number(token));
    let pieces = words(token);
    if let [piece] = pieces.as_slice() {
        meanings.push(vec![Span::beginning(SEAT, piece)]);
        meanings.push(vec![Span::exactly(NUMBER, piece)]);
    }
    if !pieces.is_empty() {
        meanings.push(pieces.iter().map(|piece| Span::beginning(WORD, piece)).collect());
    }
    meanings
}

/// `D03-K7M-S44-0127` and its end, the shift with or without its letter. A scanner that takes the keyboard for another
/// one types `'` for the dash.
fn parts_of_a_number(token: &str) -> Option<Meaning> {
    let parts: Vec<&str> = token.split(['-', '\'', '_']).filter(|part| !part.is_empty()).collect();
    let last = parts.len().checked_sub(1).filter(|last| *last > 0)?;
    let are_plain = parts.iter().all(|part| part.bytes().all(|it| it.is_ascii_alphanumeric()));
    let spans = parts.iter().enumerate().map(|(at, part)| {
        let plain = plain_number(part);
        let is_shift = at < last && is_figure(part);
        Span::exactly(NUMBER, &if is_shift { format!("s{plain}") } else { plain })
    });
    are_plain.then(|| spans.collect())
}

/// `12/11`, `12/11/2026`, `12-11-26`, `2026-11-12`, `hoy`, `ayer`. Without a year it is the last such day until today.
fn day(token: &str, today: Date) -> Option<Span> {
    let said = match token.to_lowercase().as_str() {
        "hoy" | "today" => Some(today),
        "ayer" | "yesterday" => today.yesterday().ok(),
        written => written_day(written, today),
    };
    said.map(|day| Span::exactly(DAY, &day.to_string().replace('-', "")))
}

fn written_day(token: &str, today: Date) -> Option<Date> {
    let parts: Vec<&str> = token.split(['/', '-']).collect();
    if !parts.iter().all(|part| !part.is_empty() && is_figure(part)) {
        return None;
    }
    let number = |part: &str| part.parse::<i16>().ok();
    let small = |part: &str| part.parse::<i8>().ok();
    match parts.as_slice() {
        [day, month] if token.contains('/') => {
            let in_year = |year| Date::new(year, small(month)?, small(day)?).ok();
            // The 29th of February may be some years ago.
            (0..=8).filter_map(|ago| in_year(today.year() - ago)).find(|day| *day <= today)
        }
        [year, month, day] if year.len() == 4 => Date::new(number(year)?, small(month)?, small(day)?).ok(),
        [day, month, year] if matches!(year.len(), 2 | 4) => {
            let year = number(year)?;
            let century = if year < 100 { today.year() / 100 * 100 } else { 0 };
            Date::new(century + year, small(month)?, small(day)?).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
