//! What has gone wrong with other tills, by the numbers of the project's list of such cases, and the tests that show
//! that it does not here. A test that vanishes, or a case without a test or a reason, fails.

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;

use turno_tests::tree::root;

/// The parts of the list that a till without a screen can show.
const PARTS: [(&str, RangeInclusive<u32>); 8] = [
    ("duplicates after a retry", 1..=18),
    ("lost sales", 19..=28),
    ("a stuck queue", 29..=37),
    ("numbers", 38..=42),
    ("the shift", 43..=49),
    ("clock, network, people", 50..=54),
    ("printing", 55..=58),
    ("storage", 64..=66),
];

struct Case {
    number: u32,
    /// A file and functions in it.
    shown_by: &'static [(&'static str, &'static [&'static str])],
    /// What of the case cannot be shown yet, and what is missing for it.
    lacks: &'static str,
}

const TILL: &str = "src-tauri/crates/turno-till/tests/till/";
const ANSWERS: &str = "src-tauri/crates/turno-till/src/answer/tests.rs";
const SETTLING: &str = "src-tauri/crates/turno-till/src/settle/tests.rs";
const WINDOW: &str = "tests/window/";
const CRASH: &str = "tests/crash/tests/";

const fn case(number: u32, shown_by: &'static [(&'static str, &'static [&'static str])]) -> Case {
    Case { number, shown_by, lacks: "" }
}

const fn part(
    number: u32,
    shown_by: &'static [(&'static str, &'static [&'static str])],
    lacks: &'static str,
) -> Case {
    Case { number, shown_by, lacks }
}

const CASES: &[Case] = &[
    case(1, &[("TILL/queue", &["a_lost_reply_is_asked_for_again_with_the_same_key_and_the_same_bytes"])]),
    case(
        2,
        &[
            ("TILL/cases", &["lost_replies_double_no_kind_of_sale_and_no_line_of_a_ticket"]),
            ("TILL/voiding", &["an_accepted_sale_is_voided_once_under_its_own_key_and_frees_its_seat"]),
        ],
    ),
    case(
        3,
        &[
            ("TILL/review", &["a_question_waits_for_a_manager_and_the_rest_goes_on"]),
            ("WINDOW/review", &["the_same_seat_twice_is_asked_about_and_a_manager_decides"]),
        ],
    ),
    case(
        4,
        &[
            ("src-tauri/src/folder", &["a_folder_is_held_by_one_at_a_time_and_given_back"]),
            ("WINDOW/refusals", &["a_second_start_brings_the_first_window_forward_and_ends"]),
        ],
    ),
    case(5, &[("TILL/cases", &["lost_replies_double_no_kind_of_sale_and_no_line_of_a_ticket"])]),
    case(6, &[("TILL/printing", &["a_reprint_says_which_copy_it_is_and_sends_nothing"])]),
    part(
        7,
        &[
            ("TILL/cases", &["six_presses_at_the_same_time_record_one_sale"]),
            ("WINDOW/sell", &["pressing_the_key_that_charges_twice_records_one_sale"]),
        ],
        "a page that is frozen while keys are pressed",
    ),
    case(8, &[("TILL/cases", &["a_line_that_comes_and_goes_five_times_doubles_nothing"])]),
    case(
        9,
        &[
            ("TILL/selling", &["pressing_cobrar_twice_records_one_sale_and_answers_the_same"]),
            ("WINDOW/sell", &["a_double_click_on_the_button_that_charges_records_one_sale"]),
        ],
    ),
    case(
        10,
        &[(
            "TILL/cases",
            &["what_a_refused_credential_delayed_goes_with_the_same_key_and_is_called_saved_until_then"],
        )],
    ),
    case(
        11,
        &[(
            "TILL/cases",
            &["a_request_that_yupy_still_works_on_is_asked_about_again_and_is_neither_refused_nor_reviewed"],
        )],
    ),
    case(
        12,
        &[(
            "TILL/cases",
            &[
                "a_sale_without_a_word_from_yupy_is_unconfirmed_and_its_seat_is_not_sold_again_without_a_choice",
            ],
        )],
    ),
    case(
        13,
        &[(
            "CRASH/faults",
            &["a_sale_on_a_failing_disk_is_recorded_or_not_and_a_second_press_records_it_once"],
        )],
    ),
    case(
        14,
        &[
            ("ANSWERS", &["every_code_is_read_in_one_way_whatever_it_travels_in"]),
            ("SETTLING", &["no_answer_ever_makes_a_new_key_or_touches_another_sale"]),
        ],
    ),
    case(
        15,
        &[
            ("TILL/queue", &["a_stored_body_that_was_changed_is_not_sent"]),
            (
                "ANSWERS",
                &["a_conflict_over_its_key_is_a_collision_only_where_no_earlier_attempt_can_have_arrived"],
            ),
        ],
    ),
    case(
        16,
        &[
            ("TILL/queue", &["the_key_stays_the_same_over_failures_and_restarts"]),
            ("TILL/sockets", &["what_was_frozen_is_what_travels_and_what_matters_comes_back"]),
        ],
    ),
    case(
        17,
        &[
            ("TILL/cases", &["five_attempts_at_one_sale_move_the_shifts_figures_and_the_seats_once"]),
            ("SETTLING", &["an_answer_that_comes_twice_or_too_late_changes_nothing"]),
        ],
    ),
    case(
        18,
        &[(
            "TILL/identity",
            &["of_two_perfect_clones_the_first_answer_that_shows_the_other_changes_the_epoch"],
        )],
    ),
    case(
        19,
        &[
            ("TILL/crash", &["a_plain_sale_survives_every_crash_and_is_sold_once"]),
            ("CRASH/power", &["a_power_cut_at_any_moment_loses_nothing_that_anybody_was_told"]),
            ("tests/storm/tests/short", &["a_till_that_is_killed_on_a_bad_line_loses_and_doubles_nothing"]),
        ],
    ),
    case(
        20,
        &[
            ("CRASH/power", &["a_power_cut_at_any_moment_loses_nothing_that_anybody_was_told"]),
            ("TILL/printing", &["a_till_that_ends_in_mid_ticket_asks_and_does_not_print_it_again"]),
            ("WINDOW/printing", &["a_till_killed_while_it_prints_asks_and_prints_nothing_twice"]),
        ],
    ),
    part(21, &[], "a test in the real window that empties the page's own folder"),
    case(
        22,
        &[(
            "TILL/printing",
            &["three_sales_without_a_printer_are_three_tickets_to_print_and_each_comes_out_once"],
        )],
    ),
    case(23, &[("TILL/cases", &["a_line_that_drops_after_three_of_ten_leaves_seven_that_go_by_themselves"])]),
    case(
        24,
        &[("TILL/cases", &["five_pending_sales_are_counted_after_a_restart_and_go_without_a_new_sale"])],
    ),
    case(
        25,
        &[(
            "TILL/reconciling",
            &[
                "a_sale_that_yupy_lost_is_sent_again_as_it_was_and_no_other",
                "what_yupy_has_otherwise_or_alone_is_for_people_and_nothing_is_sent",
            ],
        )],
    ),
    case(
        26,
        &[
            (
                "TILL/cases",
                &[
                    "a_sale_without_a_word_from_yupy_is_unconfirmed_and_its_seat_is_not_sold_again_without_a_choice",
                ],
            ),
            ("WINDOW/offline", &["a_lost_reply_leads_to_one_transaction_under_one_key"]),
        ],
    ),
    part(
        27,
        &[("TILL/cases", &["whoever_takes_over_offline_finds_every_pending_sale_of_the_one_before"])],
        "an installed package that is removed and installed again",
    ),
    part(
        28,
        &[("TILL/cases", &["five_thousand_queued_sales_are_all_kept"])],
        "a warning when the queue grows long",
    ),
    case(29, &[("TILL/queue", &["one_refused_sale_does_not_stop_the_others"])]),
    // There is no call for several sales: each is sent alone.
    case(30, &[("TILL/queue", &["one_refused_sale_does_not_stop_the_others"])]),
    case(31, &[("TILL/queue", &["a_row_that_cannot_be_understood_is_set_aside_once_and_blocks_nobody"])]),
    part(32, &[], "sales that depend on another record, which there are none of"),
    case(33, &[("TILL/cases", &["sending_now_tries_within_two_seconds_and_says_what_came_of_it"])]),
    case(
        34,
        &[(
            "TILL/line",
            &["switched_off_the_till_sells_and_sends_nothing_until_it_is_switched_on_whatever_happens"],
        )],
    ),
    case(
        35,
        &[
            ("TILL/queue", &["a_refused_credential_pauses_the_queue_and_counts_nobodys_attempts"]),
            (
                "TILL/cases",
                &["what_a_refused_credential_delayed_goes_with_the_same_key_and_is_called_saved_until_then"],
            ),
        ],
    ),
    case(36, &[("TILL/cases", &["a_yupy_that_does_not_answer_keeps_no_sale_waiting"])]),
    case(37, &[("TILL/sockets", &["a_byte_now_and_then_ends_at_the_total_time_out"])]),
    case(38, &[("TILL/cases", &["two_tills_of_one_company_never_give_one_number_also_offline"])]),
    case(39, &[("TILL/selling", &["numbers_never_repeat_however_often_the_program_starts"])]),
    case(40, &[("TILL/cases", &["a_cancelled_or_refused_ticket_gives_its_number_to_nobody_twice"])]),
    case(
        41,
        &[(
            "TILL/identity",
            &[
                "a_copy_of_a_folder_that_is_in_use_sells_under_an_epoch_of_its_own",
                "a_whole_home_on_another_machine_is_another_till",
            ],
        )],
    ),
    case(
        42,
        &[(
            "TILL/queue",
            &["a_transaction_that_happened_at_another_time_is_an_alarm_and_never_acknowledged"],
        )],
    ),
    case(
        43,
        &[(
            "TILL/shift",
            &["a_shift_closes_offline_with_the_list_of_what_waits_and_says_later_what_settled"],
        )],
    ),
    case(44, &[("WINDOW/shift", &["a_day_ends_with_sales_that_wait_and_the_next_shift_sees_them_settle"])]),
    case(
        45,
        &[(
            "WINDOW/shift",
            &["a_ticket_that_was_not_charged_is_named_and_is_there_for_its_seller_in_the_next_shift"],
        )],
    ),
    case(
        46,
        &[("TILL/shift", &["a_count_of_what_does_not_exist_or_of_figures_that_changed_closes_nothing"])],
    ),
    case(47, &[("TILL/shift", &["closing_twice_closes_once_and_a_shift_without_sales_closes_with_zeros"])]),
    case(48, &[("TILL/shift", &["a_second_shift_is_not_opened_beside_the_first"])]),
    case(49, &[("WINDOW/shift", &["closing_pressed_twice_closes_once_and_a_shift_without_sales_closes"])]),
    case(
        50,
        &[
            (
                "TILL/line",
                &[
                    "a_clock_more_than_two_minutes_off_is_shown_until_it_is_right",
                    "a_portals_clock_says_nothing_about_ours",
                ],
            ),
            ("TILL/people", &["a_clock_that_is_set_back_by_days_keeps_nobody_out_for_days"]),
        ],
    ),
    case(
        51,
        &[
            ("TILL/queue", &["a_portal_is_never_taken_for_yupy"]),
            ("TILL/sockets", &["a_redirect_is_an_answer_and_is_not_followed", "a_portals_page_is_no_answer"]),
        ],
    ),
    case(52, &[("TILL/cases", &["a_yupy_that_does_not_answer_keeps_no_sale_waiting"])]),
    case(
        53,
        &[(
            "TILL/cases",
            &["a_cold_start_without_a_network_and_with_a_credential_that_ended_sells_with_a_pin"],
        )],
    ),
    case(54, &[("TILL/cases", &["whoever_takes_over_offline_finds_every_pending_sale_of_the_one_before"])]),
    case(
        55,
        &[(
            "TILL/printing",
            &["three_sales_without_a_printer_are_three_tickets_to_print_and_each_comes_out_once"],
        )],
    ),
    case(
        56,
        &[
            ("PRINT/device/tests", &["four_troubles_have_four_names"]),
            ("TILL/printing", &["four_troubles_are_told_apart"]),
        ],
    ),
    case(
        57,
        &[
            (
                "PRINT/escpos/tests",
                &[
                    "spanish_comes_out_as_written_on_every_profile_that_has_a_code_page",
                    "a_line_that_the_code_page_lacks_is_drawn_and_its_neighbours_are_not",
                ],
            ),
            (
                "TILL/printing",
                &["the_test_page_shows_letters_width_and_code_and_is_previewed_before_it_is_kept"],
            ),
        ],
    ),
    case(
        58,
        &[(
            "TILL/printing",
            &["three_sales_without_a_printer_are_three_tickets_to_print_and_each_comes_out_once"],
        )],
    ),
    case(
        64,
        &[
            (
                "CRASH/faults",
                &["a_sale_on_a_failing_disk_is_recorded_or_not_and_a_second_press_records_it_once"],
            ),
            (
                "src-tauri/crates/turno-sqlite/tests/database",
                &["a_full_disk_refuses_the_write_and_keeps_the_rest"],
            ),
        ],
    ),
    case(65, &[("TILL/cases", &["two_hundred_calls_at_once_are_all_answered_and_none_is_locked_out"])]),
    case(66, &[("TILL/damage", &["a_damaged_database_is_set_aside_whole_and_the_newest_backup_opens"])]),
];

fn path(short: &str) -> String {
    match short.split_once('/') {
        Some(("TILL", name)) => format!("{TILL}{name}.rs"),
        Some(("PRINT", name)) => format!("src-tauri/crates/turno-print/src/{name}.rs"),
        Some(("WINDOW", name)) => format!("{WINDOW}{name}.rs"),
        Some(("CRASH", name)) => format!("{CRASH}{name}.rs"),
        None if short == "ANSWERS" => ANSWERS.to_owned(),
        None if short == "SETTLING" => SETTLING.to_owned(),
        Some(_) | None => format!("{short}.rs"),
    }
}

#[test]
fn every_test_that_shows_a_case_exists() {
    let mut missing = Vec::new();
    for case in CASES {
        for (short, tests) in case.shown_by {
            let path = path(short);
            let text = fs::read_to_string(root().join(&path)).unwrap_or_default();
            let vanished = tests.iter().filter(|test| !text.contains(&format!("fn {test}()")));
            missing.extend(vanished.map(|test| format!("case {}: {path} has no {test}", case.number)));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_case_has_a_test_or_says_what_it_lacks() {
    let by_number: BTreeMap<_, _> = CASES.iter().map(|case| (case.number, case)).collect();
    assert_eq!(by_number.len(), CASES.len(), "a case stands there twice");
    let listed: Vec<u32> = PARTS.iter().flat_map(|(_, numbers)| numbers.clone()).collect();
    assert_eq!(by_number.keys().copied().collect::<Vec<_>>(), listed);
    let silent: Vec<_> =
        CASES.iter().filter(|case| case.shown_by.is_empty() && case.lacks.is_empty()).collect();
    assert!(silent.is_empty(), "{:?}", silent.iter().map(|case| case.number).collect::<Vec<_>>());
}
