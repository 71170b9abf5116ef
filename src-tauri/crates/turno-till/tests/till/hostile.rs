//! What a confused or hostile YUPY, a moved clock and a caller of odd habits can do to a till: nothing that matters.

use turno_till::view::{ProblemCode, UnlockRequest};

use crate::support::{CASHIER_PIN, Shop};

#[tokio::test]
async fn setting_the_clock_back_gives_no_free_guess() {
    let shop = Shop::open().await;
    let request = |pin: &str| UnlockRequest { person_id: "c".to_owned(), pin: pin.to_owned() };
    let mut guesses = 0;
    for _ in 0..200 {
        if shop.till.unlock(&request("999998")).await.unwrap_err().code == ProblemCode::PinWrong {
            guesses += 1;
        }
        shop.clock.forward(-3_600_000);
    }
    assert!(guesses <= 3, "{guesses} guesses");
    assert_eq!(shop.till.unlock(&request(CASHIER_PIN)).await.unwrap_err().code, ProblemCode::PinLocked);
    shop.clock.forward(15 * 60_000);
    shop.till.unlock(&request(CASHIER_PIN)).await.unwrap();
}

