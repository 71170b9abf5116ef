//! What a scanner reads is looked for as what a person types: the whole code finds its product and nothing else.

use serde_json::json;

use crate::support::{self, Shop};

const SCANNED: &str = "7750182000017";

#[tokio::test(start_paused = true)]
async fn a_whole_barcode_finds_its_product_alone_and_a_part_or_an_unknown_one_finds_nothing() {
    let shop = Shop::bare().await;
    let mut catalog = support::catalog();
    catalog["revision"] = json!("2");
    catalog["products"] = json!([
        { "product": "GUIA", "name": format!("Guía {SCANNED}"), "price": "1.00" },
        { "product": "CAJA", "name": "Caja", "price": "3.50", "barcode": SCANNED },
        { "product": "SOBRE", "name": "Sobre", "price": "2.00", "barcode": "7750182000024" },
    ]);
    shop.yupy.offer(catalog);
    support::set_up(&shop.till).await;
    let named = |text: &str| {
        let (till, text) = (shop.till.clone(), text.to_owned());
        async move {
            let found = till.search_offers(&text, 10).await.unwrap();
            found.into_iter().map(|offer| (offer.offer_id, offer.barcode)).collect::<Vec<_>>()
        }
    };
    let scanned = [("product:CAJA".to_owned(), Some(SCANNED.to_owned()))];
    assert_eq!(named(SCANNED).await, scanned, "also where a name begins with the code");
    assert_eq!(named(&format!(" {SCANNED} ")).await, scanned);
    for unknown in [&SCANNED[1..], "7750182000025", "77501820000177"] {
        assert_eq!(named(unknown).await, [], "{unknown}");
    }
    assert_eq!(named("guia").await, [("product:GUIA".to_owned(), None)]);
}
