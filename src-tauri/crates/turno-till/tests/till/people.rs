use turno_till::view::{ProblemCode, UnlockRequest};

use crate::support::{CASHIER_PIN, Shop};

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
