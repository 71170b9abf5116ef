//! Years of sales, written straight into a store's tables: only their number matters, so nobody signs or chains them.
//!
//! Invariant: a history ends before the sales that are measured begin, and none of its keys is old enough to be purged
//! while measuring.

use std::path::Path;

use anyhow::Result;

/// Over how many days a history is spread: within the retention of keys.
const DAYS: u64 = 20;

/// The columns of a sale number `i` of `total`; both stores read this SQL. `{hex}` writes a number as hexadecimal.
fn statements(total: u64, dialect: &Dialect) -> [String; 3] {
    let Dialect { series, hex, blob, at_ms, at_text } = dialect;
    let span_ms = DAYS * 24 * 3600 * 1000;
    let series = series.replace("{total}", &total.to_string());
    let at_ms = at_ms.replace("{total}", &total.to_string()).replace("{span}", &span_ms.to_string());
    let at_text = at_text.replace("{at_ms}", &at_ms);
    // Evenly over the whole range of keys, in ascending order, so that filling appends and later keys fall in between.
    let stride = 0xffff_ffff_u64 / total.max(1);
    let key = hex.replace("{n}", &format!("(i * {stride})"));
    let id = hex.replace("{n}", "i");
    let scope = "(SELECT min(scope_id) FROM scope)";
    [
        format!(
            "INSERT INTO sale (yupy_transaction_id, arrival, scope_id, external_transaction_id, amount_minor,
                currency, occurred_at, occurred_at_ms, buyer_name, buyer_name_folded, integration_experience, shift_id,
                device_id, payment_method, route, seat, service, operational, financial, created_at_ms)
             SELECT 'ypt_0' || {id}, i, {scope}, 'A-' || {id}, 4000 + (i % 40) * 50, 'PEN', {at_text}, {at_ms},
                'Pasajero ' || i, 'pasajero ' || i, 'chat_pos', 'S' || (i / 500), 'D' || (i % 50), 'cash', '184',
                (i % 48) || 'A', '184-' || (i / 48), 'active', 'paid', {at_ms}
             FROM {series}"
        ),
        format!(
            "INSERT INTO idempotency_key (scope_id, idempotency_key, fingerprint_version, full_fingerprint,
                core_fingerprint, state, original_status, yupy_transaction_id, completed_at_ms)
             SELECT {scope}, {key}, 1, {blob}, {blob}, 'final', 201, 'ypt_0' || {id}, {at_ms} FROM {series}"
        ),
        format!(
            "INSERT INTO audit (company, number, entry, prev_hash, hash)
             SELECT 'bench', i, '{{\"event\":\"created\",\"external_transaction_id\":\"A-' || {id}
                || '\",\"yupy_transaction_id\":\"ypt_0' || {id} || '\"}}', {blob}, {blob} FROM {series}"
        ),
    ]
}

/// How a store says it.
struct Dialect {
    series: &'static str,
    hex: &'static str,
    blob: &'static str,
    at_ms: &'static str,
    at_text: &'static str,
}

const SQLITE: Dialect = Dialect {
    series: "(WITH RECURSIVE series (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM series WHERE i < {total})
        SELECT i FROM series)",
    hex: "printf('%08x', {n})",
    blob: "randomblob(32)",
    at_ms: "(unixepoch() * 1000 - 3600000 - {span} + i * {span} / {total})",
    at_text: "strftime('%Y-%m-%dT%H:%M:%SZ', {at_ms} / 1000, 'unixepoch')",
};

const POSTGRES: Dialect = Dialect {
    series: "generate_series(1::bigint, {total}) AS series (i)",
    hex: "lpad(to_hex({n}), 8, '0')",
    blob: "decode(md5(i::text) || md5((-i)::text), 'hex')",
    at_ms: "(floor(extract(epoch FROM now()))::bigint * 1000 - 3600000 - {span} + i * {span} / {total})",
    at_text: "to_char(to_timestamp({at_ms} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
};

/// Into a ledger's file that nobody has open.
pub fn fill_sqlite(file: &Path, total: u64) -> Result<()> {
    let connection = rusqlite::Connection::open(file)?;
    // What is lost in a power cut now is filled again.
    connection
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000")?;
    // Rows are appended; indexes in another order are sorted once, afterwards.
    let indexes: Vec<(String, String)> = connection
        .prepare(
            "SELECT name, sql FROM sqlite_schema
             WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('sale', 'idempotency_key', 'audit')",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (name, _) in &indexes {
        connection.execute_batch(&format!("DROP INDEX {name}"))?;
    }
    for statement in statements(total, &SQLITE) {
        connection.execute_batch(&statement)?;
    }
    for (_, create) in &indexes {
        connection.execute_batch(create)?;
    }
    connection.execute_batch("ANALYZE")?;
    drop(connection);
    // Otherwise the system writes it out while creations are measured.
    std::fs::File::open(file)?.sync_all()?;
    Ok(())
}

pub async fn fill_postgres(address: &str, total: u64) -> Result<()> {
    let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls).await?;
    let connection = tokio::spawn(connection);
    client.batch_execute("SET synchronous_commit = off; SET maintenance_work_mem = '512MB'").await?;
    // As on SQLite. What makes a constraint stays: its rows come in its order.
    let indexes = client
        .query(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
             WHERE indrelid::regclass::text IN ('sale', 'idempotency_key', 'audit')
                AND indexrelid NOT IN (SELECT conindid FROM pg_constraint)",
            &[],
        )
        .await?;
    for index in &indexes {
        client.batch_execute(&format!("DROP INDEX {}", index.get::<_, &str>(0))).await?;
    }
    for statement in statements(total, &POSTGRES) {
        client.batch_execute(&statement).await?;
    }
    for index in &indexes {
        client.batch_execute(index.get(1)).await?;
    }
    client
        .batch_execute(&format!(
            "UPDATE company_head SET audit_rows = {total}, arrivals = {total} WHERE company = 'bench'"
        ))
        .await?;
    // Each alone: neither runs inside the transaction that a list of statements is.
    for tidy in ["VACUUM ANALYZE", "CHECKPOINT"] {
        client.batch_execute(tidy).await?;
    }
    drop(client);
    connection.await??;
    Ok(())
}
