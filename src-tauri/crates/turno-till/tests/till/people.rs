//! PINs: how many guesses there are, whoever guesses and however.

use turno_till::view::{ProblemCode, UnlockRequest};

use crate::support::{CASHIER_PIN, MANAGER_PIN, Shop};

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
    shop.crash().await;
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
    shop.clock.forward(-3 * 86_400_000);
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
