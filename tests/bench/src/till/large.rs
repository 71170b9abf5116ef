//! A till with a million sales beside an empty one: recording, pages of its history, and the way to its open screen.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use rusqlite::Connection;
use turno_till::random::{OsEntropy, roll};
use turno_till::store::{self, sale_terms};
use turno_till::view::{
    Approval, ByteOrderMark, DecimalMark, ExportSalesRequest, SalesPeriod, SalesStanding, SearchSalesRequest,
};
use turno_till::{Till, WriterMode};

use super::shop::{MANAGER, MANAGER_PIN, Place, Shop, told_no};
use super::{Plan, commits, is_on_a_disk, stock};
use crate::figures::{Figures, Target, median, per_mille};

/// Pages that are looked at; the hundredth part of them is some.
const PAGES: u32 = 2_000;
/// No page may keep a person waiting longer.
const PAGE_LIMIT_US: f64 = 5_000.0;
/// What somebody types is found before the next key.
const SEARCH_LIMIT_US: f64 = 50_000.0;
/// From the start of the program's till to everything that the first screen shows.
const OPEN_LIMIT_S: f64 = 1.5;

pub async fn measure(plan: Plan, figures: &mut Figures, folder: &Path) -> Result<()> {
    println!("\n== a till with {} sales beside an empty one", plan.sales);
    ensure!(is_on_a_disk(folder), "temporary files are in memory here: name a folder on a disk in TMPDIR");
    let (empty, large) = (Place::new(&folder.join("empty"), None)?, Place::new(&folder.join("large"), None)?);
    large.found().await?;
    let started = Instant::now();
    stock::fill(&large, plan.sales).await?;
    println!("  filled and backed up in {:.0} s", started.elapsed().as_secs_f64());
    indexing(figures, &large).await?;
    opening(plan, figures, &large).await?;
    let (empty, large) = (empty.found_and_open().await?, large.open().await?);
    recording(plan, figures, folder, [&empty, &large]).await?;
    pages(plan, figures, &large).await?;
    searching(plan, figures, &large).await?;
    exporting(figures, folder, &large).await?;
    empty.till.close().await;
    large.till.close().await;
    Ok(())
}

/// What a till with a past and no index does after its upgrade, beside its work: all of it, and the longest that a sale
/// waits for a part.
async fn indexing(figures: &mut Figures, large: &Place) -> Result<()> {
    let db = store::open(&large.options().folder, WriterMode::Thread)?;
    let (started, mut longest) = (Instant::now(), 0.0_f64);
    let next = |conn: &Connection| {
        sale_terms::next_block(conn)?.map(|block| sale_terms::read_block(conn, block)).transpose()
    };
    while let Some(rows) = db.read(next).await? {
        let writing = Instant::now();
        db.write(move |conn| sale_terms::write_block(conn, &rows)).await?;
        longest = longest.max(writing.elapsed().as_secs_f64() * 1_000.0);
    }
    figures.put("index_all_s", started.elapsed().as_secs_f64());
    figures.put("index_longest_write_ms", longest);
    db.close().await;
    Ok(())
}

async fn opening(plan: Plan, figures: &mut Figures, large: &Place) -> Result<()> {
    let mut seconds = Vec::new();
    for _ in 0..plan.turns {
        let started = Instant::now();
        let till = Till::open(large.options().clone()).await.map_err(told_no)?;
        first_screen(&till).await?;
        seconds.push(started.elapsed().as_secs_f64());
        till.close().await;
    }
    let open = median(seconds);
    figures.put("open_and_ready_s", open);
    figures.put_ratio("open_and_ready_vs_limit", open, OPEN_LIMIT_S, Target::AtMost(1.0));
    Ok(())
}

/// Whatever a screen asks for before somebody can sell.
async fn first_screen(till: &Till) -> Result<()> {
    till.phase().await.map_err(told_no)?;
    till.status().await.map_err(told_no)?;
    till.search_offers("", 50).await.map_err(told_no)?;
    till.recent_sales(None).await.map_err(told_no)?;
    till.pending(None).await.map_err(told_no)?;
    Ok(())
}

/// Who comes after whom: what one leaves to the disk must not always meet the same other.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];

async fn recording(plan: Plan, figures: &mut Figures, folder: &Path, shops: [&Shop; 2]) -> Result<()> {
    let mut bare = commits::Bare::beside(folder)?;
    let mut micros = [Vec::new(), Vec::new(), Vec::new()];
    let count = plan.turns * usize::try_from(plan.recorded)?;
    for round in 0..count {
        for side in ORDERS[round % ORDERS.len()] {
            let took = match side {
                0 => bare.sync()?,
                shop => shops[shop - 1].sell().await?,
            };
            // At first caches fill.
            if round >= count / 10 {
                micros[side].push(took);
            }
        }
    }
    let [bare, empty, large] = &mut micros;
    let (sync, alone, among) = (per_mille(bare, 500), per_mille(empty, 500), per_mille(large, 500));
    figures.put("bare_fdatasync_p50_us", sync);
    figures.put("record_p50_us_empty", alone);
    figures.put("record_p50_us_large", among);
    figures.put("bare_fdatasync_p99_us", per_mille(bare, 990));
    figures.put("record_p99_us_empty", per_mille(empty, 990));
    figures.put("record_p99_us_large", per_mille(large, 990));
    figures.put_ratio("record_vs_bare_fdatasync", alone, sync, Target::AtMost(2.0));
    figures.put_ratio("record_large_vs_empty", among, alone, Target::AtMost(1.2));
    Ok(())
}

async fn pages(plan: Plan, figures: &mut Figures, large: &Shop) -> Result<()> {
    let mut micros = Vec::new();
    for _ in 0..PAGES {
        let after = 1 + i64::from(roll(&OsEntropy)) % plan.sales;
        let started = Instant::now();
        let page = large.till.recent_sales(Some(after)).await.map_err(told_no)?;
        micros.push(started.elapsed().as_secs_f64() * 1_000_000.0);
        ensure!(after == 1 || !page.items.is_empty(), "there are older sales than {after}");
    }
    let p99 = per_mille(&mut micros, 990);
    figures.put("history_page_p99_us", p99);
    figures.put_ratio("history_page_p99_vs_limit", p99, PAGE_LIMIT_US, Target::AtMost(1.0));
    Ok(())
}

/// Every sale into a table, and what sales wait meanwhile.
async fn exporting(figures: &mut Figures, folder: &Path, large: &Shop) -> Result<()> {
    let search = SearchSalesRequest {
        text: String::new(),
        standing: None,
        tender: None,
        period: SalesPeriod::Always,
        after: None,
    };
    let request = ExportSalesRequest {
        path: folder.join("all.csv").display().to_string(),
        search,
        decimal: DecimalMark::Point,
        mark: ByteOrderMark::None,
        approval: Approval { manager_id: MANAGER.to_owned(), pin: MANAGER_PIN.to_owned() },
    };
    let (till, started) = (large.till.clone(), Instant::now());
    let mut export = tokio::spawn(async move { till.export_sales(&request).await });
    let mut micros = Vec::new();
    let exported = loop {
        tokio::select! {
            done = &mut export => break done?.map_err(told_no)?,
            sold = large.sell() => micros.push(sold?),
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    figures.put("export_all_s", seconds);
    figures.put("export_sales_a_second", f64::from(exported.sales_count) / seconds);
    figures.put("record_p99_us_during_an_export", per_mille(&mut micros, 990));
    Ok(())
}

/// What people look for, from what every sale has to what none has.
const LOOKED_FOR: [&str; 12] = [
    "",
    "m",
    "maria",
    "quispe nunez",
    "12a",
    "85.50",
    "12/11",
    "lima arequipa",
    "S/ 85.50 nahui 3c",
    "nadie",
    "j nadie",
    "D01 99999999",
];

async fn searching(plan: Plan, figures: &mut Figures, large: &Shop) -> Result<()> {
    let mut all = Vec::new();
    let own = (roll(&OsEntropy) % 1_000).to_string();
    for text in LOOKED_FOR.into_iter().chain([own.as_str()]) {
        for standing in [None, Some(SalesStanding::Confirmed), Some(SalesStanding::Voided)] {
            let mut micros = Vec::new();
            for _ in 0..plan.turns * 4 {
                let request = SearchSalesRequest {
                    text: text.to_owned(),
                    standing,
                    tender: None,
                    period: SalesPeriod::Always,
                    after: None,
                };
                let started = Instant::now();
                large.till.search_sales(&request).await.map_err(told_no)?;
                micros.push(started.elapsed().as_secs_f64() * 1_000_000.0);
            }
            println!("  {text:?} {standing:?}: {:.0} µs", per_mille(&mut micros, 500));
            all.extend(micros);
        }
    }
    figures.put("search_p50_us", per_mille(&mut all, 500));
    let p99 = per_mille(&mut all, 990);
    figures.put("search_p99_us", p99);
    figures.put_ratio("search_p99_vs_limit", p99, SEARCH_LIMIT_US, Target::AtMost(1.0));
    Ok(())
}
