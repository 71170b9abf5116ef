//! The till's printer as somebody set it. Invariant: a till without a row has no printer and prints nothing.

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::store::{unreadable, words};
use crate::view::{PrinterCodePage, PrinterDevice, PrinterSettings};

words!(PrinterCodePage {
    PrinterCodePage::Pc850 => "pc850" = PrinterCodePage::Pc850,
    PrinterCodePage::Pc858 => "pc858" = PrinterCodePage::Pc858,
    PrinterCodePage::Wpc1252 => "wpc1252" = PrinterCodePage::Wpc1252,
    PrinterCodePage::Iso885915 => "iso885915" = PrinterCodePage::Iso885915,
    PrinterCodePage::Drawn => "drawn" = PrinterCodePage::Drawn,
});

/// What most printers for 80 mm understand, and nothing that is printed by itself.
#[must_use]
pub fn unset() -> PrinterSettings {
    PrinterSettings {
        device: None,
        columns: 48,
        code_page: PrinterCodePage::Pc858,
        qr_by_printer: false,
        cuts: true,
        prints_tickets: true,
        opens_drawer: false,
        says_no_receipt: true,
        footer_1: String::new(),
        footer_2: String::new(),
    }
}

pub fn get(conn: &Connection) -> Result<PrinterSettings> {
    let found = conn
        .prepare_cached(
            "SELECT device, address, columns, code_page, qr_by_printer, cuts, prints_tickets, opens_drawer,
                    says_no_receipt, footer_1, footer_2
             FROM printer",
        )?
        .query_row([], |row| {
            let device: Option<String> = row.get(0)?;
            let address: Option<String> = row.get(1)?;
            Ok(PrinterSettings {
                device: device.zip(address).map(|(kind, address)| read_device(&kind, address)).transpose()?,
                columns: row.get(2)?,
                code_page: PrinterCodePage::from_word(&row.get::<_, String>(3)?)?,
                qr_by_printer: row.get(4)?,
                cuts: row.get(5)?,
                prints_tickets: row.get(6)?,
                opens_drawer: row.get(7)?,
                says_no_receipt: row.get(8)?,
                footer_1: row.get(9)?,
                footer_2: row.get(10)?,
            })
        })
        .optional()?;
    Ok(found.unwrap_or_else(unset))
}

pub fn set(conn: &Connection, settings: &PrinterSettings) -> Result<()> {
    let (device, address) = match &settings.device {
        None => (None, None),
        Some(PrinterDevice::Network { address }) => (Some("network"), Some(address)),
        Some(PrinterDevice::DeviceFile { path }) => (Some("device_file"), Some(path)),
        Some(PrinterDevice::File { path }) => (Some("file"), Some(path)),
    };
    conn.execute(
        "INSERT OR REPLACE INTO printer
            (id, device, address, columns, code_page, qr_by_printer, cuts, prints_tickets, opens_drawer,
             says_no_receipt, footer_1, footer_2)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            device,
            address,
            settings.columns,
            settings.code_page.as_word(),
            settings.qr_by_printer,
            settings.cuts,
            settings.prints_tickets,
            settings.opens_drawer,
            settings.says_no_receipt,
            settings.footer_1,
            settings.footer_2,
        ],
    )?;
    Ok(())
}

fn read_device(kind: &str, address: String) -> Result<PrinterDevice> {
    match kind {
        "network" => Ok(PrinterDevice::Network { address }),
        "device_file" => Ok(PrinterDevice::DeviceFile { path: address }),
        "file" => Ok(PrinterDevice::File { path: address }),
        other => Err(unreadable("printer.device", other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fixture::in_memory;

    #[test]
    fn settings_come_back_as_they_were_set_and_the_last_ones_count() {
        let conn = in_memory();
        assert_eq!(get(&conn).unwrap(), unset());
        let path = "/dev/usb/lp0".to_owned();
        let devices = [
            Some(PrinterDevice::Network { address: "cocina.local".to_owned() }),
            Some(PrinterDevice::DeviceFile { path: path.clone() }),
            Some(PrinterDevice::File { path }),
            None,
        ];
        for device in devices {
            let settings = PrinterSettings {
                device,
                columns: 32,
                code_page: PrinterCodePage::Iso885915,
                footer_2: "Gracias".to_owned(),
                ..unset()
            };
            set(&conn, &settings).unwrap();
            assert_eq!(get(&conn).unwrap(), settings);
        }
    }
}
