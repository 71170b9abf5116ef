use super::*;

const TODAY: Date = jiff::civil::date(2026, 12, 1);

fn sale() -> Facts {
    Facts {
        external_transaction_id: "D03-K7M-S44-0127".to_owned(),
        occurred_at: at("2026-11-12T20:15:00Z"),
        amount_minor: 2_550,
        description: "Línea 7 · Ñaña – Huánuco 20:30 · asiento 12A".to_owned(),
        route: Some("U7".to_owned()),
        seat: Some("12A".to_owned()),
        buyer_name: Some("José María Ñáñez-Peña".to_owned()),
        paid_in: Some("cash wallet".to_owned()),
    }
}

fn at(utc: &str) -> Millis {
    utc.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

fn finds(text: &str, sale: &Facts) -> bool {
    Query::parse(text, TODAY, Currency::PEN).is_met_by(sale)
}

#[track_caller]
fn check(found: &[&str], not_found: &[&str]) {
    for text in found {
        assert!(finds(text, &sale()), "{text:?} finds it");
    }
    for text in not_found {
        assert!(!finds(text, &sale()), "{text:?} does not find it");
    }
}

#[test]
fn nothing_typed_is_every_sale() {
    check(&["", "   ", "–", " · ", "S/", "%", "''-'", "\u{7}"], &[]);
}

#[test]
fn a_number_is_found_with_its_letters_and_without() {
    check(
        &[
            "127",
            "0127",
            "00127",
            "D03-K7M-S44-0127",
            "d03-k7m-s44-127",
            "S44-0127",
            "s44-127",
            "44-127",
            "44-0127",
        ],
        &["12700", "1270", "27", "45-127", "S44-0128", "D04-K7M-S44-0127", "D03-K7M-S44-01270"],
    );
    // A scanner that takes the keyboard for another one.
    check(&["D03'K7M'S44'0127", "S44", "k7m", "D03"], &["S4", "D0"]);
}

#[test]
fn a_seat_is_found_by_its_beginning_and_in_any_case() {
    check(&["12A", "12a", "12"], &["12B", "2A", "1B"]);
}

#[test]
fn a_name_is_found_by_the_beginning_of_any_of_its_words_without_accents_or_case() {
    check(
        &[
            "jose",
            "JOSÉ",
            "mar",
            "ñañez",
            "nanez",
            "peña",
            "PENA",
            "Ñáñez-Peña",
            "nanez-p",
            "naña",
            "huanuco",
            "j",
        ],
        &["ose", "aria", "jose ramos", "ramos", "pena-nanez-x"],
    );
    let decomposed = Facts { buyer_name: Some("Jose\u{301}".to_owned()), ..sale() };
    assert!(finds("JOSÉ", &decomposed) && finds("jose", &decomposed));
    assert!(finds("straße", &Facts { buyer_name: Some("STRASSE".to_owned()), ..sale() }));
    assert!(finds("иван", &Facts { buyer_name: Some("Иван".to_owned()), ..sale() }));
}

#[test]
fn an_amount_is_found_as_people_write_it() {
    check(
        &["25.50", "25,50", "25.5", "25,5", "S/ 25.50", "s/25,5", "S/. 25.50", "S/.25.50"],
        &["25", "S/ 25", "25.05", "2550", "S/ 127", "S/ 12"],
    );
    let dear = Facts { amount_minor: 125_000, ..sale() };
    for text in ["1250", "1250.00", "1,250.00", "1.250,00", "S/ 1,250.00", "S/1250"] {
        assert!(finds(text, &dear), "{text}");
    }
}

#[test]
fn a_day_is_found_as_people_write_it() {
    check(
        &["12/11", "12/11/2026", "12/11/26", "12-11-2026", "2026-11-12", "12/11 jose"],
        &["13/11", "12/11/2025", "11/12", "32/11", "12/13", "hoy", "ayer"],
    );
    let on = |utc| Facts { occurred_at: at(utc), ..sale() };
    assert!(finds("hoy", &on("2026-12-01T05:00:00Z")) && finds("today", &on("2026-12-02T04:59:59Z")));
    assert!(finds("AYER", &on("2026-12-01T04:59:59Z")), "the day is the one at the till");
    assert!(finds("2/12", &on("2025-12-02T20:00:00Z")), "the last such day, which was last year");
    assert!(!finds("2/12", &on("2026-12-02T20:00:00Z")), "a day without a year is none to come");
    assert!(finds("29/02", &on("2024-02-29T20:00:00Z")), "nor one that its year does not have");
    assert!(finds("hoy", &Facts { buyer_name: Some("Hoyos".to_owned()), ..sale() }), "and the name goes on");
}

#[test]
fn a_route_is_found_by_its_code_its_names_and_its_time() {
    check(&["U7", "linea 7", "ñaña", "20:30", "20:3"], &["20", "linea 8"]);
}

#[test]
fn every_word_must_hold() {
    check(&["jose 12a 25.50", "12/11 127", "S/ 25.50 naña peña"], &["jose 12b", "jose 25.51", "12a 13/11"]);
}

#[test]
fn what_no_keyboard_writes_finds_nothing_and_breaks_nothing() {
    let long = "7".repeat(10_000);
    check(&[], &[&long, "99999999999999999999", "jose\u{0}x", "1/1/1/9"]);
    let _ = Query::parse(&"-/'.,".repeat(39), TODAY, Currency::PEN);
    let _ = Query::parse("0/0 99/99/9999 9999-99-99 .5 5. , . S/. S/x", TODAY, Currency::PEN);
    // What is between words is no word.
    check(&["jose\u{1b}peña", "\u{202e}jose", "jose\u{7}"], &[]);
}

#[test]
fn filters_are_words_like_any_other() {
    let all = Query::default();
    assert!(all.clone().paid_in(TenderMethod::Wallet).is_met_by(&sale()));
    assert!(!all.clone().paid_in(TenderMethod::Card).is_met_by(&sale()));
    assert!(!all.clone().paid_in(TenderMethod::Cash).is_met_by(&Facts { paid_in: None, ..sale() }));
    let day = |day: &str| day.parse::<Date>().unwrap();
    assert!(all.clone().between_days(day("2026-11-12"), day("2026-11-12")).is_met_by(&sale()));
    assert!(all.clone().between_days(day("2026-10-31"), day("2026-11-30")).is_met_by(&sale()));
    assert!(!all.clone().between_days(day("2026-11-13"), day("2026-11-30")).is_met_by(&sale()));
    assert!(!all.between_days(day("2026-11-30"), day("2026-11-01")).is_met_by(&sale()), "turned round: none");
}
