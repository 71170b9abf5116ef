//! What is measured on PostgreSQL.

use std::{sync::Arc, time::Instant};

use anyhow::{Context, Result};
use turno_postgres::Database;

use crate::{
    Plan,
    figures::{Figures, Target, median},
    history, load,
    on_sqlite::{CONNECTIONS, EQUAL_FARES, SMALL_HISTORY, among_fares, first_ones, known_ones, p50s},
    pgbench,
    sale::{Kind, Numbers},
    side::Running,
};

pub async fn measure(plan: Plan, figures: &mut Figures) -> Result<()> {
    let database = Database::create_durable()?.context("no PostgreSQL: install it, or --without-postgres")?;
    creations(plan, figures, &database).await?;
    equal_fares(plan, figures, &database).await?;
    histories(plan, figures, &database).await
}

async fn creations(plan: Plan, figures: &mut Figures, database: &Database) -> Result<()> {
    println!("\n== PostgreSQL: creations at {CONNECTIONS} connections");
    pgbench::prepare(database).await?;
    let server = Running::postgres(&database.url())?;
    let numbers = Arc::new(Numbers::default());
    let (mut rates, mut plain, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..plan.turns {
        let (requests, from) = (first_ones(Kind::Ticket, &numbers), numbers.count());
        rates.push(load::run(server.address, CONNECTIONS, plan.turn(), 201, requests).await?.per_second);
        let known = known_ones(Kind::Ticket, from..numbers.count());
        plain.push(pgbench::run(database, CONNECTIONS, plan.turn()).await?);
        again.push(load::run(server.address, CONNECTIONS, plan.turn(), 200, known).await?.per_second);
        println!("  turn {turn}: {:.0} / {:.0} / {:.0}", rates[turn], plain[turn], again[turn]);
    }
    let [rate, plain, again] = [rates, plain, again].map(median);
    figures.put("postgres_creations_per_s", rate);
    figures.put("pgbench_inserts_per_s", plain);
    figures.put("postgres_replays_per_s", again);
    figures.put_ratio("postgres_contract_vs_pgbench", rate, plain, Target::AtLeast(0.6));
    figures.put_ratio("postgres_replay_vs_creation", again, rate, Target::AtLeast(1.5));
    let memory = server.peak_memory_mib()?;
    figures.put("postgres_rss_mib", memory);
    figures.put_ratio("postgres_rss_vs_limit", memory, 150.0, Target::AtMost(1.0));
    Ok(())
}

async fn equal_fares(plan: Plan, figures: &mut Figures, database: &Database) -> Result<()> {
    println!("\n== PostgreSQL: a ticket among {EQUAL_FARES} anonymous fares of its price, and among none");
    let books = [database.beside()?, database.beside()?];
    let servers = [Running::postgres(&books[0].url())?, Running::postgres(&books[1].url())?];
    let [calm, busy] = among_fares(plan, &servers).await?;
    figures.put("postgres_look_alike_p50_us_among_none", calm);
    figures.put("postgres_look_alike_p50_us_among_equal_fares", busy);
    figures.put_ratio("postgres_equal_fares_vs_none", busy, calm, Target::AtMost(1.3));
    Ok(())
}

async fn histories(plan: Plan, figures: &mut Figures, database: &Database) -> Result<()> {
    println!("\n== PostgreSQL: a creation after {SMALL_HISTORY} and after {} transactions", plan.history);
    let books = [database.beside()?, database.beside()?];
    let mut servers = Vec::new();
    for (database, total) in books.iter().zip([SMALL_HISTORY, plan.history]) {
        // The first start makes the tables.
        drop(Running::postgres(&database.url())?);
        let began = Instant::now();
        history::fill_postgres(&database.url(), total).await?;
        println!("  {total} are in after {} s", began.elapsed().as_secs());
        servers.push(Running::postgres(&database.url())?);
    }
    let [small, large] = p50s(plan, &servers).await?;
    figures.put("postgres_creation_p50_us_small_history", small);
    figures.put("postgres_creation_p50_us_large_history", large);
    figures.put_ratio("postgres_large_history_vs_small", large, small, Target::AtMost(1.3));
    Ok(())
}
