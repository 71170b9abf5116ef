//! Refusals and failures in the user's language.
//!
//! Invariant: every code has one Spanish sentence here that says what happened and what to do; the screen has the
//! same in each of its languages. Nothing in `detail` is secret.

use turno_sqlite::{OpenError, WriteError};

use crate::transport::AddressError;
use crate::view::{Money, Problem, ProblemCode};

impl Problem {
    #[must_use]
    pub fn new(code: ProblemCode) -> Self {
        Self { code, message: sentence(code).to_owned(), detail: None }
    }

    #[must_use]
    pub fn with(code: ProblemCode, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..Self::new(code) }
    }
}

impl From<ProblemCode> for Problem {
    fn from(code: ProblemCode) -> Self {
        Self::new(code)
    }
}

impl From<turno_domain::Money> for Money {
    fn from(money: turno_domain::Money) -> Self {
        Self { minor: money.minor(), currency: money.currency().code().to_owned() }
    }
}

impl From<AddressError> for Problem {
    fn from(error: AddressError) -> Self {
        Self::with(ProblemCode::AddressInvalid, error.to_string())
    }
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        if turno_sqlite::is_disk_full(&error) {
            return ProblemCode::DiskFull.into();
        }
        tracing::error!(%error, "the till's database refused");
        ProblemCode::Internal.into()
    }
}

impl From<WriteError<Problem>> for Problem {
    fn from(error: WriteError<Problem>) -> Self {
        match error {
            WriteError::Rejected(problem) => problem,
            WriteError::Full => ProblemCode::DiskFull.into(),
            WriteError::OutcomeUnknown(error) => {
                tracing::error!(%error, "a commit has an unknown outcome");
                ProblemCode::OutcomeUnknown.into()
            }
            WriteError::NotCommitted(error) => {
                tracing::error!(%error, "a write was not committed");
                ProblemCode::Internal.into()
            }
            WriteError::Closed => ProblemCode::NotAllowedNow.into(),
        }
    }
}

impl From<OpenError> for Problem {
    fn from(error: OpenError) -> Self {
        let code = match &error {
            OpenError::Newer { .. } => ProblemCode::DatabaseNewer,
            OpenError::NotWritable(_) => ProblemCode::FolderNotWritable,
            OpenError::NotADatabase(_) | OpenError::Damaged(_) => ProblemCode::DatabaseDamaged,
            OpenError::Full(_) => ProblemCode::DiskFull,
            OpenError::Locked(_) => ProblemCode::FolderInUse,
            OpenError::Setting { .. } | OpenError::Migration { .. } | OpenError::Other(_) => {
                ProblemCode::Internal
            }
        };
        Self::with(code, error.to_string())
    }
}

fn sentence(code: ProblemCode) -> &'static str {
    match code {
        ProblemCode::FolderInUse => "Otra ventana de Turno ya usa esta carpeta. Ciérrela y vuelva a abrir.",
        ProblemCode::FolderNotWritable => "No se puede escribir en la carpeta de datos. Revise los permisos.",
        ProblemCode::DatabaseNewer => {
            "Los datos son de una versión más nueva de Turno. Actualice el programa; no se cambió nada."
        }
        ProblemCode::DatabaseDamaged => {
            "El archivo de ventas está dañado. No se cambió nada; llame a soporte."
        }
        ProblemCode::DiskFull => {
            "Queda muy poco espacio en el disco: no cobre. Libere espacio y la caja volverá a vender sola."
        }
        ProblemCode::AddressInvalid => "La dirección de YUPY no es válida.",
        ProblemCode::AddressUnreachable => "No se pudo llegar a esa dirección. Revise la red y la dirección.",
        ProblemCode::EnrolmentRefused => "YUPY no aceptó el código. Pida un código nuevo.",
        ProblemCode::NotYupy => "En esa dirección no responde YUPY.",
        ProblemCode::PracticeFailed => "No se pudo iniciar la práctica.",
        ProblemCode::NotUnlocked => "Desbloquee la caja con su PIN.",
        ProblemCode::PinWrong => "PIN incorrecto.",
        ProblemCode::PinLocked => "Demasiados intentos. Espere antes de probar otra vez.",
        ProblemCode::PinWeak => "El PIN necesita al menos 6 dígitos y no puede ser uno común.",
        ProblemCode::NameInvalid => "Escriba un nombre de 1 a 60 letras.",
        ProblemCode::ManagerRequired => "Esto lo decide un encargado.",
        ProblemCode::LastManager => "Es el único encargado. Agregue otro antes de retirarlo.",
        ProblemCode::ReasonRequired => "Escriba el motivo.",
        ProblemCode::ShiftRequired => "Abra el turno antes de vender.",
        ProblemCode::ShiftAlreadyOpen => "Ya hay un turno abierto en esta caja.",
        ProblemCode::NotEnoughCash => "En el cajón no hay tanto efectivo.",
        ProblemCode::FiguresChanged => "Las cifras cambiaron. Revíselas antes de cerrar el turno.",
        ProblemCode::AmountInvalid => "El monto no es válido.",
        ProblemCode::TicketEmpty => "Agregue algo al boleto antes de cobrar.",
        ProblemCode::TicketTooLong => "El boleto tiene demasiadas líneas. Cóbrelo en dos partes.",
        ProblemCode::OfferGone => "Esto ya no está en el catálogo. Quítelo del boleto.",
        ProblemCode::PriceChanged => "El precio cambió. Revise el boleto antes de cobrar.",
        ProblemCode::SeatRequired => "Elija un asiento.",
        ProblemCode::SeatUnknown => "Ese asiento no existe en este bus.",
        ProblemCode::SeatTwice => "El mismo asiento está dos veces en el boleto.",
        ProblemCode::QuantityInvalid => "La cantidad no es válida.",
        ProblemCode::BuyerNameInvalid => {
            "El nombre no es válido: hasta 120 letras, sin caracteres de control."
        }
        ProblemCode::ReceivedTooLittle => "Lo recibido no alcanza.",
        ProblemCode::DiscountInvalid => {
            "El descuento no es válido: debe quedar un precio de al menos S/ 0.10."
        }
        ProblemCode::TendersInvalid => "Elija con qué se paga.",
        ProblemCode::TenderTooMuch => "Es más de lo que falta pagar. Solo el efectivo da vuelto.",
        ProblemCode::OperationNumberInvalid => "Escriba el número de operación: de 4 a 32 letras o números.",
        ProblemCode::OperationNumberUsed => {
            "Ese número de operación ya pagó otra venta. Mire el pago otra vez."
        }
        ProblemCode::CardAlone => "La tarjeta paga el boleto entero. Quite los otros pagos.",
        ProblemCode::CardNeedsLine => "Sin línea no se puede cobrar con tarjeta. Use efectivo o billetera.",
        ProblemCode::CardNotChargeable => "Ahora no se puede cobrar esta venta con tarjeta. Mire su estado.",
        ProblemCode::CardWasCharged => "Esta venta está pagada. La anula un encargado.",
        ProblemCode::DraftAlreadyRecorded => "Este boleto ya se cobró. Abra uno nuevo.",
        ProblemCode::QuestionChanged => "La pregunta cambió. Mírela otra vez antes de decidir.",
        ProblemCode::NotInReview => "Esta venta ya no está en revisión.",
        ProblemCode::MoneyHandlingRequired => "Indique qué pasó con el dinero: devuelto o no cobrado.",
        ProblemCode::TakeBackTooLate => {
            "Ya no se puede deshacer: YUPY fue avisado, el turno se cerró o el asiento se vendió otra vez."
        }
        ProblemCode::DecidedElsewhere => "Otra persona decidió antes, y vale su decisión.",
        ProblemCode::PrinterMissing => "Esta caja no tiene impresora. Elíjala en Ajustes.",
        ProblemCode::PrinterSettingsInvalid => "Revise los datos de la impresora: dirección, ruta o ancho.",
        ProblemCode::NotCorrectable => "Esta venta no espera una corrección.",
        ProblemCode::SaleChanged => "La venta cambió mientras la miraba. Vuelva a abrirla.",
        ProblemCode::TextInvalid => "Un dato no es válido: hasta 120 letras, sin caracteres de control.",
        ProblemCode::AlreadyVoided => "Esta venta ya está anulada. El dinero se devolvió una vez.",
        ProblemCode::VoidAwaitsDecision => "Responda primero la pregunta de YUPY en Revisar.",
        ProblemCode::VoidAwaitsPayment => "Aún no se sabe si la tarjeta se cobró. Espere la respuesta.",
        ProblemCode::VoidNotPossible => "Esta venta no se puede anular aquí. Llame a soporte.",
        ProblemCode::VoidLimit => "El monto supera lo que se puede devolver en la caja. Lo hace la oficina.",
        ProblemCode::PassphraseShort => "La frase es muy corta. Use 10 letras o más.",
        ProblemCode::PassphraseWrong => "Esa frase no abre este archivo.",
        ProblemCode::NothingToExport => "No hay ventas sin enviar.",
        ProblemCode::TooManySales => "Son demasiadas ventas para un archivo.",
        ProblemCode::FileExists => "Ya hay un archivo con ese nombre. Elija otro; no se cambió.",
        ProblemCode::FileNotWritten => "No se pudo escribir el archivo. Revise la carpeta y el espacio.",
        ProblemCode::FolderMissing => "Esa carpeta no está. Conecte la memoria o elija otra carpeta.",
        ProblemCode::FileNoRoom => "Ahí no hay espacio para el archivo. Libere espacio o elija otra carpeta.",
        ProblemCode::FileNotRead => "No se pudo leer el archivo. Revise la carpeta y el nombre.",
        ProblemCode::FileForeign => "Ese archivo no es de ventas sin enviar de Turno.",
        ProblemCode::FileNewer => "El archivo es de una versión más nueva de Turno. Actualice esta caja.",
        ProblemCode::FileDamaged => "El archivo está cortado o cambiado. No se importó nada.",
        ProblemCode::OtherCompany => "El archivo es de otra empresa. No se importó nada.",
        ProblemCode::NotFound => "No se encontró.",
        ProblemCode::NotAllowedNow => "Ahora no se puede.",
        ProblemCode::DiskFailed => "El disco falló y la venta no se guardó. Pulse Cobrar otra vez.",
        ProblemCode::OutcomeUnknown => {
            "El disco no confirmó si guardó la venta. Mire en Ventas antes de cobrar otra vez."
        }
        ProblemCode::Internal => "Algo falló en el programa. No se perdió nada; vuelva a intentarlo.",
    }
}
