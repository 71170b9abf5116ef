use proptest::prelude::*;

use super::*;
use crate::currency::Currency;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// A sale of S/ 80.00 of which nothing else is known.
fn bare() -> Traits {
    Traits::new(Money::from_minor(8_000, Currency::PEN), "2026-11-30T15:00:00Z".parse().expect("a time"))
}

/// A sale of which everything is known.
fn full() -> Traits {
    let mut sale = bare();
    for signal in Signal::ALL {
        set(&mut sale, signal, signal.as_str());
    }
    sale
}

fn with(mut sale: Traits, fields: &[(Signal, &str)]) -> Traits {
    for (signal, value) in fields {
        set(&mut sale, *signal, value);
    }
    sale
}

fn without(mut sale: Traits, signal: Signal) -> Traits {
    if let Some(field) = field(&mut sale, signal) {
        *field = None;
    }
    sale
}

fn set(sale: &mut Traits, signal: Signal, value: &str) {
    if let Some(field) = field(sale, signal) {
        *field = Some(value.to_owned());
    }
}

fn field(sale: &mut Traits, signal: Signal) -> Option<&mut Option<String>> {
    match signal {
        Signal::Amount | Signal::Currency => None,
        Signal::BuyerName => Some(&mut sale.buyer_name),
        Signal::ShiftId => Some(&mut sale.shift_id),
        Signal::DeviceId => Some(&mut sale.device_id),
        Signal::Route => Some(&mut sale.route),
        Signal::Seat => Some(&mut sale.seat),
        Signal::Order => Some(&mut sale.order),
        Signal::Product => Some(&mut sale.product),
        Signal::Service => Some(&mut sale.service),
        Signal::CustomReference1 => Some(&mut sale.custom_reference_1),
        Signal::CustomReference2 => Some(&mut sale.custom_reference_2),
    }
}

fn later(sale: &Traits, by: SignedDuration) -> Traits {
    Traits { occurred_at: sale.occurred_at + by, ..sale.clone() }
}

/// The verdict on a sale and its twin, a minute later, both ways round.
fn twin(sale: &Traits) -> Option<Vec<Signal>> {
    verdict(sale, &later(sale, MINUTE))
}

fn verdict(a: &Traits, b: &Traits) -> Option<Vec<Signal>> {
    let verdict = compare(a, b, &Rule::default());
    assert_eq!(compare(b, a, &Rule::default()), verdict, "the order of the two does not matter");
    verdict
}

use Signal::*;

// The lines of the contract's table, one test each ("one of them voided" is no matter of traits: see `compare`).

#[test]
fn the_same_amount_and_nothing_else_is_two_sales() {
    assert_eq!(twin(&bare()), None);
}

#[test]
fn equal_fares_of_one_shift_till_and_route_without_seat_or_name_are_so_many_sales() {
    let fare = with(bare(), &[(ShiftId, "SHIFT-44"), (DeviceId, "DEVICE-03"), (Route, "184")]);
    assert_eq!(twin(&fare), None);
}

#[test]
fn another_seat_on_the_same_route_is_another_sale() {
    let one = with(bare(), &[(Route, "184"), (Seat, "12A")]);
    let other = later(&with(bare(), &[(Route, "184"), (Seat, "12B")]), MINUTE);
    assert_eq!(verdict(&one, &other), None);
}

#[test]
fn the_same_seat_on_the_same_route_is_a_look_alike() {
    let ticket = with(bare(), &[(Route, "184"), (Seat, "12A")]);
    assert_eq!(twin(&ticket), Some(vec![Amount, Currency, Route, Seat]));
}

#[test]
fn the_same_buyer_on_the_same_shift_and_till_without_a_seat_is_a_look_alike() {
    let sale = with(bare(), &[(BuyerName, "María Ramos"), (ShiftId, "SHIFT-44"), (DeviceId, "DEVICE-03")]);
    assert_eq!(twin(&sale), Some(vec![Amount, Currency, BuyerName, ShiftId, DeviceId]));
}

#[test]
fn the_same_seat_three_hours_apart_is_two_sales() {
    let ticket = with(bare(), &[(Route, "184"), (Seat, "12A")]);
    assert_eq!(verdict(&ticket, &later(&ticket, SignedDuration::from_hours(3))), None);
}

// The four conditions.

#[test]
fn another_amount_or_currency_is_another_sale_however_equal_the_rest() {
    let dollars = Currency::parse("USD").expect("a currency");
    for amount in [Money::from_minor(8_001, Currency::PEN), Money::from_minor(8_000, dollars)] {
        assert_eq!(verdict(&full(), &Traits { amount, ..full() }), None, "{amount}");
    }
}

#[test]
fn the_window_includes_its_limit_in_both_directions() {
    for (seconds, alike) in [(0, true), (599, true), (600, true), (601, false)] {
        let other = later(&full(), SignedDuration::from_secs(seconds));
        assert_eq!(verdict(&full(), &other).is_some(), alike, "{seconds} s");
    }
    let just_over = later(&full(), Rule::DEFAULT_WINDOW + SignedDuration::from_nanos(1));
    assert_eq!(verdict(&full(), &just_over), None);
}

#[test]
fn a_context_field_that_differs_tells_two_sales_apart_and_one_that_is_absent_does_not() {
    for signal in [Route, Seat, Order, Product, Service, CustomReference1, CustomReference2] {
        assert_eq!(verdict(&full(), &with(full(), &[(signal, "another")])), None, "{signal:?}");
        let expected: Vec<Signal> = Signal::ALL.into_iter().filter(|other| *other != signal).collect();
        assert_eq!(verdict(&full(), &without(full(), signal)), Some(expected), "{signal:?}");
    }
}

#[test]
fn another_buyer_shift_or_till_does_not_tell_two_sales_of_one_seat_apart() {
    for signal in [BuyerName, ShiftId, DeviceId] {
        let expected: Vec<Signal> = Signal::ALL.into_iter().filter(|other| *other != signal).collect();
        assert_eq!(verdict(&full(), &with(full(), &[(signal, "another")])), Some(expected), "{signal:?}");
    }
}

#[test]
fn one_identifying_field_and_one_more_signal_are_enough() {
    for (fields, signals) in [
        ([(Seat, "12A"), (DeviceId, "D")], [Amount, Currency, DeviceId, Seat]),
        ([(Order, "O"), (Product, "TICKET")], [Amount, Currency, Order, Product]),
        ([(CustomReference2, "R"), (ShiftId, "S")], [Amount, Currency, ShiftId, CustomReference2]),
        ([(BuyerName, "Rosa"), (Service, "NIGHT")], [Amount, Currency, BuyerName, Service]),
        ([(BuyerName, "Rosa"), (CustomReference1, "R")], [Amount, Currency, BuyerName, CustomReference1]),
    ] {
        assert_eq!(twin(&with(bare(), &fields)), Some(signals.to_vec()));
    }
}

#[test]
fn an_identifying_field_alone_is_not_enough() {
    for signal in Rule::DEFAULT_IDENTIFYING {
        assert_eq!(twin(&with(bare(), &[(signal, "x")])), None, "{signal:?}");
    }
}

#[test]
fn everything_but_an_identifying_field_is_not_enough() {
    let sale = Rule::DEFAULT_IDENTIFYING.into_iter().fold(full(), without);
    assert_eq!(twin(&sale), None);
}

// How fields are compared.

#[test]
fn empty_texts_are_absent_neither_equal_nor_different() {
    for blank in ["", " ", "\t\u{a0}\u{3000}"] {
        let fields = Signal::ALL.map(|signal| (signal, blank));
        assert_eq!(twin(&with(bare(), &fields)), None, "{blank:?} is no signal");
        let other = with(full(), &[(Route, blank), (Seat, blank)]);
        assert!(verdict(&full(), &other).is_some(), "{blank:?} does not tell apart");
    }
}

#[test]
fn names_are_compared_without_case_unicode_form_or_spacing() {
    let named = |name| with(bare(), &[(BuyerName, name), (ShiftId, "S"), (DeviceId, "D")]);
    for name in ["JOSÉ ÑAHUI", "Jose\u{301} N\u{303}ahui", "  josé   ñahui"] {
        let signals = verdict(&named("José Ñahui"), &named(name));
        assert_eq!(signals, Some(vec![Amount, Currency, BuyerName, ShiftId, DeviceId]), "{name:?}");
    }
    assert_eq!(verdict(&named("José Ñahui"), &named("Jose Nahui")), None, "accents are part of a name");
}

#[test]
fn context_is_compared_without_form_and_spacing_but_with_case() {
    let ticket = |seat, route| with(bare(), &[(Seat, seat), (Route, route)]);
    assert!(verdict(&ticket("12A", "Línea 1"), &ticket(" 12A ", "Li\u{301}nea   1")).is_some());
    assert_eq!(verdict(&ticket("12A", "184"), &ticket("12a", "184")), None);
}

#[test]
fn shift_and_device_are_ids_and_compared_as_they_are() {
    let sale = |device| with(bare(), &[(Seat, "12A"), (DeviceId, device)]);
    assert!(verdict(&sale("D03"), &sale("D03")).is_some());
    assert_eq!(verdict(&sale("D03"), &sale("D03 ")), None);
    assert_eq!(verdict(&sale("D03"), &sale("d03")), None);
}

// Settings.

#[test]
fn an_integration_sets_window_and_identifying_fields() {
    let rule = Rule::new(MINUTE, [Order]).expect("a rule");
    let apart = |seconds| later(&full(), SignedDuration::from_secs(seconds));
    assert!(compare(&full(), &apart(60), &rule).is_some());
    assert_eq!(compare(&full(), &apart(61), &rule), None);
    assert_eq!(compare(&full(), &without(full(), Order), &rule), None);
}

#[test]
fn a_window_outside_30_seconds_to_24_hours_is_refused() {
    for (seconds, fine) in [(29, false), (30, true), (86_400, true), (86_401, false), (-60, false)] {
        let rule = Rule::new(SignedDuration::from_secs(seconds), Rule::DEFAULT_IDENTIFYING);
        assert_eq!(rule.is_ok(), fine, "{seconds} s");
    }
    assert_eq!(Rule::new(MINUTE, [Seat, Amount]), Err(RuleError::NotIdentifying(Amount)));
    assert_eq!(Rule::new(Rule::DEFAULT_WINDOW, Rule::DEFAULT_IDENTIFYING), Ok(Rule::default()));
}

// Which one is shown.

fn ranked(new: &Traits, stored: &[Traits]) -> Vec<usize> {
    rank(new, stored.iter().enumerate(), &Rule::default()).into_iter().map(|found| found.sale).collect()
}

#[test]
fn the_look_alike_with_most_signals_comes_first_however_far_in_time() {
    let near_but_poor = later(&without(without(full(), BuyerName), Order), MINUTE);
    let far_but_rich = later(&without(full(), Order), Rule::DEFAULT_WINDOW);
    assert_eq!(
        ranked(&full(), &[near_but_poor, bare(), far_but_rich]),
        [2, 0],
        "and the distinct one is left out"
    );
}

#[test]
fn of_equally_many_signals_the_nearest_in_time_comes_first_before_or_after() {
    let at = |seconds| later(&full(), SignedDuration::from_secs(seconds));
    assert_eq!(ranked(&full(), &[at(-190), at(110), at(400)]), [1, 0, 2]);
    assert_eq!(ranked(&full(), &[at(60), at(-60)]), [0, 1], "equally near: as given");
    assert_eq!(rank(&full(), [((), &at(-190))], &Rule::default())[0].apart, SignedDuration::from_secs(190));
}

#[test]
fn names_of_signals_are_those_of_the_contract_in_its_order() {
    let names = Signal::ALL.map(Signal::as_str).join(", ");
    assert_eq!(
        names,
        "amount, currency, buyer_name, shift_id, device_id, route, seat, order, product, service, \
         custom_reference_1, custom_reference_2"
    );
    assert!(Signal::ALL.is_sorted(), "the derived order is the contract's");
    for signal in Signal::ALL {
        assert_eq!(Signal::parse(signal.as_str()), Some(signal));
        assert_eq!(serde_json::to_string(&signal).unwrap(), format!("\"{}\"", signal.as_str()));
    }
    assert_eq!(Signal::parse("colour"), None);
}

// The rule stated a second time, over every way in which ten fields can stand to each other.

#[test]
fn the_verdict_follows_the_rule_in_every_combination_of_fields() {
    let fields: Vec<Signal> = Signal::ALL.into_iter().skip(2).collect();
    let telling = [Route, Seat, Order, Product, Service, CustomReference1, CustomReference2];
    for combination in 0..3_u32.pow(10) {
        let (mut one, mut other) = (bare(), later(&bare(), MINUTE));
        let (mut equal, mut told_apart) = (vec![Amount, Currency], false);
        let mut rest = combination;
        for &signal in &fields {
            match rest % 3 {
                0 => set(&mut one, signal, "x"),
                1 => {
                    set(&mut one, signal, "x");
                    set(&mut other, signal, "x");
                    equal.push(signal);
                }
                _ => {
                    set(&mut one, signal, "x");
                    set(&mut other, signal, "y");
                    told_apart |= telling.contains(&signal);
                }
            }
            rest /= 3;
        }
        let identified = [Seat, Order, CustomReference2, BuyerName].iter().any(|field| equal.contains(field));
        let expected = (!told_apart && identified && equal.len() >= 4).then_some(equal);
        assert_eq!(compare(&one, &other, &Rule::default()), expected, "combination {combination}");
    }
}

// Laws.

fn any_traits() -> impl Strategy<Value = Traits> {
    let text = || prop::option::of(prop::sample::select(vec!["", " ", "a", "A", " a", "b", "ß", "SS"]));
    let texts = prop::array::uniform10(text());
    (0_i64..3, -700_i64..700, texts).prop_map(|(minor, seconds, texts)| {
        let mut sale = later(&bare(), SignedDuration::from_secs(seconds));
        sale.amount = Money::from_minor(8_000 + minor, Currency::PEN);
        for (signal, value) in Signal::ALL.into_iter().skip(2).zip(texts) {
            if let Some(value) = value {
                set(&mut sale, signal, value);
            }
        }
        sale
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// So that a store may leave out what differs in them.
    #[test]
    fn whatever_looks_alike_differs_in_nothing_that_tells(a in any_traits(), b in any_traits()) {
        if compare(&a, &b, &Rule::default()).is_some() {
            let differ = |(one, other): (Option<String>, Option<String>)| one.is_some() && other.is_some() && one != other;
            prop_assert!(!telling(&a).into_iter().zip(telling(&b)).any(differ), "{a:?} {b:?}");
        }
    }

    /// So that a store may search by clues and leave the rest of its sales unread.
    #[test]
    fn whatever_looks_alike_shares_a_clue(a in any_traits(), b in any_traits()) {
        let rule = Rule::default();
        if compare(&a, &b, &rule).is_some() {
            let of_b = clues(&b, &rule);
            prop_assert!(clues(&a, &rule).iter().any(|clue| of_b.contains(clue)), "{a:?} {b:?}");
        }
    }

    #[test]
    fn looking_alike_does_not_depend_on_the_order(a in any_traits(), b in any_traits()) {
        verdict(&a, &b);
    }

    #[test]
    fn signals_are_ordered_enough_and_truly_equal(a in any_traits(), b in any_traits()) {
        if let Some(signals) = verdict(&a, &b) {
            prop_assert!(signals.is_sorted() && signals.len() >= LEAST_SIGNALS);
            prop_assert_eq!(&signals[..2], &[Amount, Currency][..]);
            prop_assert!(signals.iter().any(|signal| Rule::DEFAULT_IDENTIFYING.contains(signal)));
            prop_assert!(signals.iter().all(|signal| a.comparable(*signal) == b.comparable(*signal)));
        }
    }

    #[test]
    fn normalising_beforehand_changes_no_verdict(a in any_traits(), b in any_traits()) {
        let mut normal = a.clone();
        for signal in [BuyerName, Route, Seat, Order, Product, Service, CustomReference1, CustomReference2] {
            if let Some(text) = field(&mut normal, signal).and_then(Option::as_mut) {
                *text = normalise_free_text(text);
            }
        }
        prop_assert_eq!(verdict(&a, &b), verdict(&normal, &b));
    }
}
