//! PINs: how many guesses there are, whoever guesses and however.

use std::fs;

use turno_till::view::{
    AddPersonRequest, Approval, AuditPageRequest, ChangePinRequest, Phase, Problem, ProblemCode,
    ResetPinRequest, RetirePersonRequest, Role, UnlockRequest,
};

use crate::crash::disk::audited;
use crate::support::{CASHIER_PIN, MANAGER_PIN, MORNING, Shop, fare};
use crate::world::{Folder, World};

fn request(pin: &str) -> UnlockRequest {
    UnlockRequest { person_id: "c".to_owned(), pin: pin.to_owned() }
}

#[tokio::test]
async fn wrong_pins_are_counted_on_the_disk_and_ten_of_them_lock() {
    let mut shop = Shop::open().await;
    let mut wrong = 0;
    while wrong < 10 {
        match shop.till.unlock(&request("999998")).await.unwrap_err() {
            problem if problem.code == ProblemCode::PinWrong => wrong += 1,
            problem => {
                assert_eq!(problem.code, ProblemCode::PinLocked);
                let seconds: i64 = problem.detail.unwrap().parse().unwrap();
                shop.clock.forward(seconds * 1_000);
            }
        }
    }
    let locked = shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err();
    assert_eq!(locked.code, ProblemCode::PinLocked, "the right PIN does not help while locked");
    shop.clock.forward(15 * 60_000);
    shop.reopen().await;
    let anew = shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err();
    assert_eq!(anew.detail.as_deref(), Some("900"), "a restart ends no wait");
    shop.clock.forward(15 * 60_000);
    shop.unlock().await;
}

#[tokio::test]
async fn a_hundred_guesses_at_once_get_no_more_tries_than_one_after_the_other() {
    let shop = Shop::open().await;
    let mut guesses = tokio::task::JoinSet::new();
    for guess in 0..100 {
        let till = shop.till.clone();
        guesses.spawn(async move {
            till.unlock(&request(&format!("{:06}", 500_000 + guess))).await.unwrap_err().code
        });
    }
    let codes = guesses.join_all().await;
    assert_eq!(codes.iter().filter(|code| **code == ProblemCode::PinWrong).count(), 3);
}

#[tokio::test]
async fn an_unknown_person_is_answered_like_a_wrong_pin() {
    let shop = Shop::open().await;
    let unknown = UnlockRequest { person_id: "nobody".to_owned(), pin: CASHIER_PIN.to_owned() };
    assert_eq!(
        shop.till.unlock(&unknown).await.unwrap_err(),
        shop.till.unlock(&request("999998")).await.unwrap_err()
    );
}

#[tokio::test]
async fn a_clock_that_is_set_back_by_days_keeps_nobody_out_for_days() {
    let shop = Shop::open().await;
    for _ in 0..3 {
        shop.till.unlock(&request("999998")).await.unwrap_err();
    }
    assert_eq!(shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err().code, ProblemCode::PinLocked);
    shop.clock.set_by(-3 * 86_400_000);
    shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err();
    shop.clock.forward(2_000);
    shop.till.unlock(&request(CASHIER_PIN)).await.unwrap();
}

#[tokio::test]
async fn one_persons_wrong_pins_do_not_lock_another_out() {
    let shop = Shop::open().await;
    for _ in 0..3 {
        shop.till.unlock(&request("999998")).await.unwrap_err();
    }
    let manager = UnlockRequest { person_id: "m".to_owned(), pin: MANAGER_PIN.to_owned() };
    shop.till.unlock(&manager).await.unwrap();
    let still = shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err();
    assert_eq!(still.code, ProblemCode::PinLocked, "and their right PINs do not forgive each other's");
}

#[tokio::test]
async fn a_clock_that_is_set_forward_gives_no_try() {
    let shop = Shop::open().await;
    for _ in 0..3 {
        shop.till.unlock(&request("999998")).await.unwrap_err();
    }
    shop.clock.set_by(365 * 86_400_000);
    assert_eq!(shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err().code, ProblemCode::PinLocked);
    shop.clock.set_by(-366 * 86_400_000);
    assert_eq!(shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err().code, ProblemCode::PinLocked);
    shop.clock.forward(2_000);
    shop.till.unlock(&request(CASHIER_PIN)).await.unwrap();
}

#[tokio::test]
async fn a_restart_begins_the_wait_anew_instead_of_ending_it() {
    let mut shop = Shop::open().await;
    let manager = UnlockRequest { person_id: "m".to_owned(), pin: MANAGER_PIN.to_owned() };
    for _ in 0..4 {
        shop.till.unlock(&request("999998")).await.unwrap_err();
        shop.clock.forward(2_000);
    }
    shop.reopen().await;
    shop.till.unlock(&manager).await.unwrap();
    let again = shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err();
    assert_eq!((again.code, again.detail.as_deref()), (ProblemCode::PinLocked, Some("4")), "the whole of it");
    shop.clock.forward(4_000);
    shop.till.unlock(&request(CASHIER_PIN)).await.unwrap();
}

/// Guesses until there is a wait, and tells how many guesses there were and the wait in seconds.
async fn guesses_until_locked(folder: &Folder) -> (u32, i64) {
    let mut guesses = 0;
    loop {
        match folder.till.unlock(&request("999998")).await.unwrap_err() {
            problem if problem.code == ProblemCode::PinWrong => guesses += 1,
            problem => return (guesses, problem.detail.unwrap().parse().unwrap()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_older_state_of_the_folder_that_is_put_back_gives_no_fresh_tries() {
    let world = World::new();
    let path = world.new_till().await.close().await;
    world.copy(&path, "before");
    let mut in_all = 0;
    let mut waits = Vec::new();
    for _ in 0..9 {
        fs::remove_dir_all(&path).unwrap();
        world.copy(&world.path("before"), "data");
        let folder = world.open("data", &world.home, MORNING + 60_000).await;
        let (guesses, wait) = guesses_until_locked(&folder).await;
        folder.clock.forward(wait * 1_000);
        let (after, wait) = guesses_until_locked(&folder).await;
        in_all += guesses + after;
        waits.push(wait);
        folder.close().await;
    }
    assert_eq!((in_all, waits.last()), (12, Some(&900)), "three, and then one for each wait: {waits:?}");
    let folder = world.open("data", &world.home, MORNING + 60_000).await;
    folder.till.unlock(&request(CASHIER_PIN)).await.unwrap_err();
    folder.clock.forward(15 * 60_000);
    folder.till.unlock(&request(CASHIER_PIN)).await.expect("nobody is locked out for ever");
    folder.till.unlock(&request("999998")).await.unwrap_err();
    folder.till.unlock(&request(CASHIER_PIN)).await.expect("and a right PIN forgives");
}

#[tokio::test(start_paused = true)]
async fn a_copy_beside_the_folder_that_is_in_use_gives_no_fresh_tries_either() {
    let world = World::new();
    let original = world.new_till().await;
    world.copy(&original.path, "copy");
    assert_eq!(guesses_until_locked(&original).await, (3, 2));
    let copy = world.open("copy", &world.home, MORNING + 7).await;
    assert_eq!(guesses_until_locked(&copy).await, (0, 2));
    copy.clock.forward(2_000);
    assert_eq!(guesses_until_locked(&copy).await, (1, 4));
    original.clock.forward(2_000);
    assert_eq!(guesses_until_locked(&original).await.0, 0, "what the copy counted counts here");
}

const NEW_ID: &str = "0190a0a0-0000-4000-8000-000000000001";

fn approval() -> Approval {
    Approval { manager_id: "m".to_owned(), pin: MANAGER_PIN.to_owned() }
}

fn newcomer(role: Role, pin: &str) -> AddPersonRequest {
    AddPersonRequest {
        person_id: NEW_ID.to_owned(),
        name: " Ana  Ñahui ".to_owned(),
        role,
        pin: pin.to_owned(),
        approval: approval(),
    }
}

async fn unlock_as(shop: &Shop, person_id: &str, pin: &str) -> Result<(), Problem> {
    shop.till.unlock(&UnlockRequest { person_id: person_id.to_owned(), pin: pin.to_owned() }).await
}

#[tokio::test]
async fn a_manager_adds_somebody_once_who_can_work_at_once() {
    let shop = Shop::open().await;
    let request = newcomer(Role::Cashier, "482913");
    shop.till.admit_person(&request).await.unwrap();
    shop.till.admit_person(&request).await.unwrap();
    let people = shop.till.people().await.unwrap();
    assert_eq!(people.iter().filter(|person| person.name == "Ana Ñahui").count(), 1);
    unlock_as(&shop, NEW_ID, "482913").await.unwrap();
    shop.sell(fare(1)).await;
    assert_eq!(audited(shop.folder()).get("person_created"), Some(&3));
}

#[tokio::test]
async fn without_a_managers_pin_nothing_about_people_changes() {
    let shop = Shop::open().await;
    let by_cashier = Approval { manager_id: "c".to_owned(), pin: CASHIER_PIN.to_owned() };
    let wrong = Approval { pin: "999998".to_owned(), ..approval() };
    for (approval, code) in [(by_cashier, ProblemCode::ManagerRequired), (wrong, ProblemCode::PinWrong)] {
        let add = AddPersonRequest { approval: approval.clone(), ..newcomer(Role::Manager, "482913") };
        assert_eq!(shop.till.admit_person(&add).await.unwrap_err().code, code);
        let reset = ResetPinRequest {
            person_id: "c".to_owned(),
            pin: "482913".to_owned(),
            approval: approval.clone(),
        };
        assert_eq!(shop.till.reset_pin(&reset).await.unwrap_err().code, code);
        let retire = RetirePersonRequest { person_id: "c".to_owned(), approval };
        assert_eq!(shop.till.retire_person(&retire).await.unwrap_err().code, code);
    }
    assert_eq!(shop.till.people().await.unwrap().len(), 2);
    unlock_as(&shop, "c", CASHIER_PIN).await.unwrap();
}

#[tokio::test]
async fn a_reset_pin_replaces_the_old_one_and_ends_the_wait() {
    let shop = Shop::open().await;
    for _ in 0..3 {
        unlock_as(&shop, "c", "999998").await.unwrap_err();
    }
    let reset = ResetPinRequest { person_id: "c".to_owned(), pin: "482913".to_owned(), approval: approval() };
    let weak = ResetPinRequest { pin: "159753".to_owned(), ..reset.clone() };
    assert_eq!(shop.till.reset_pin(&weak).await.unwrap_err().code, ProblemCode::PinWeak);
    shop.till.reset_pin(&reset).await.unwrap();
    unlock_as(&shop, "c", "482913").await.unwrap();
    assert_eq!(unlock_as(&shop, "c", CASHIER_PIN).await.unwrap_err().code, ProblemCode::PinWrong);
    let nobody = ResetPinRequest { person_id: "nobody".to_owned(), ..reset };
    assert_eq!(shop.till.reset_pin(&nobody).await.unwrap_err().code, ProblemCode::NotFound);
    assert_eq!(audited(shop.folder()).get("pin_reset"), Some(&1));
}

#[tokio::test]
async fn a_person_changes_their_own_pin_with_the_old_one() {
    let shop = Shop::open().await;
    let change = ChangePinRequest { pin: "999998".to_owned(), new_pin: "482913".to_owned() };
    assert_eq!(shop.till.change_pin(&change).await.unwrap_err().code, ProblemCode::PinWrong);
    let change = ChangePinRequest { pin: CASHIER_PIN.to_owned(), ..change };
    shop.till.change_pin(&change).await.unwrap();
    unlock_as(&shop, "c", "482913").await.unwrap();
    assert_eq!(audited(shop.folder()).get("pin_changed"), Some(&1));
}

#[tokio::test]
async fn somebody_who_is_retired_cannot_unlock_and_their_sales_keep_the_name() {
    let shop = Shop::open().await;
    let sold = shop.sell(fare(1)).await.sales[0].external_transaction_id.clone();
    let retire = RetirePersonRequest { person_id: "c".to_owned(), approval: approval() };
    shop.till.retire_person(&retire).await.unwrap();
    assert!(matches!(shop.till.phase().await.unwrap(), Phase::Locked { .. }), "it was them at the till");
    let refused = unlock_as(&shop, "c", CASHIER_PIN).await.unwrap_err();
    assert_eq!(refused, unlock_as(&shop, "nobody", CASHIER_PIN).await.unwrap_err(), "as if unknown");
    unlock_as(&shop, "m", MANAGER_PIN).await.unwrap();
    assert_eq!(shop.sale(&sold).await.seller, "Caja");
    assert_eq!(shop.till.retire_person(&retire).await.unwrap_err().code, ProblemCode::NotFound);
    // Whoever sets the till up again with the people of before does not bring them back.
    shop.till.add_person("c", "Caja", Role::Cashier, CASHIER_PIN).await.unwrap();
    assert_eq!(shop.till.people().await.unwrap().len(), 1);
    assert_eq!(audited(shop.folder()).get("person_retired"), Some(&1));
}

#[tokio::test]
async fn the_audit_says_who_stood_at_the_till_and_which_manager_approved() {
    let shop = Shop::open().await;
    shop.till.admit_person(&newcomer(Role::Cashier, "482913")).await.unwrap();
    let reset =
        ResetPinRequest { person_id: NEW_ID.to_owned(), pin: "591736".to_owned(), approval: approval() };
    shop.till.reset_pin(&reset).await.unwrap();
    let retire = RetirePersonRequest { person_id: NEW_ID.to_owned(), approval: approval() };
    shop.till.retire_person(&retire).await.unwrap();
    unlock_as(&shop, "m", MANAGER_PIN).await.unwrap();
    let everything = AuditPageRequest {
        after: None,
        kind: None,
        person_id: None,
        day: None,
        external_transaction_id: None,
    };
    let page = shop.till.audit_page(&everything).await.unwrap();
    for event in ["person_created", "pin_reset", "person_retired"] {
        let row = page.items.iter().find(|row| row.event == event).unwrap();
        let fact =
            |name: &str| row.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str());
        assert_eq!(row.person.as_deref(), Some("Caja"), "{event}");
        assert_eq!((fact("of"), fact("approved_by")), (Some(NEW_ID), Some("m")), "{event}");
    }
}

#[tokio::test]
async fn the_last_manager_is_not_retired_even_when_two_retire_each_other() {
    let shop = Shop::open().await;
    let last = RetirePersonRequest { person_id: "m".to_owned(), approval: approval() };
    assert_eq!(shop.till.retire_person(&last).await.unwrap_err().code, ProblemCode::LastManager);
    shop.till.admit_person(&newcomer(Role::Manager, "482913")).await.unwrap();
    let other = RetirePersonRequest {
        person_id: NEW_ID.to_owned(),
        approval: Approval { manager_id: "m".to_owned(), pin: MANAGER_PIN.to_owned() },
    };
    let by_other = RetirePersonRequest {
        approval: Approval { manager_id: NEW_ID.to_owned(), pin: "482913".to_owned() },
        ..last
    };
    let (one, two) = tokio::join!(shop.till.retire_person(&other), shop.till.retire_person(&by_other));
    assert_eq!(u8::from(one.is_ok()) + u8::from(two.is_ok()), 1, "{one:?} {two:?}");
    assert_eq!(shop.till.managers().await.unwrap().len(), 1);
}
