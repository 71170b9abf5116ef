//! The till's real window, seen and handled as a person does: what is on the screen, keys, clicks.
//!
//! Parts of the page are named by their `data-testid`. Every look waits until what it looks for is there; a look in
//! vain leaves a picture of the window and its text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::driver::Driver;
use crate::process::{self, child_named};
use crate::tree;
use crate::wait::until;
use crate::webdriver::Session;

/// Ends with the value.
pub struct Window {
    page: Session,
    _driver: Driver,
    /// The till's process; nothing once it was killed.
    till: Option<u32>,
}

/// One part of the page at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    /// `data-state`, `data-code` and so on, without the prefix.
    pub data: BTreeMap<String, String>,
    pub value: Option<String>,
    pub is_enabled: bool,
}

impl Part {
    pub fn test_id(&self) -> &str {
        self.data.get("testid").map_or("", String::as_str)
    }

    /// Whether `data-{name}` is this.
    pub fn is(&self, name: &str, value: &str) -> bool {
        self.data.get(name).is_some_and(|found| found == value)
    }
}

impl Window {
    pub(crate) async fn open(driver: Driver, binary: &Path, args: &[String]) -> Result<Self> {
        let page = driver.open(binary, args).await?;
        let name = binary.file_name().context("a program has a name")?.to_string_lossy();
        let till = child_named(driver.id(), &name)?.context("the driver has no till")?;
        Ok(Self { page, _driver: driver, till: Some(till) })
    }

    /// `kill -9`: no warning, no goodbye.
    pub async fn kill(mut self) -> Result<()> {
        match self.till.take() {
            Some(till) => process::kill(till).await,
            None => Ok(()),
        }
    }

    /// The program with its web view's processes; nothing once it was killed.
    pub fn processes(&self) -> Vec<u32> {
        self.till.map(process::family).unwrap_or_default()
    }

    /// Types into whatever has the focus.
    pub async fn keys(&self, keys: &str) -> Result<()> {
        self.page.keys(keys).await
    }

    pub async fn click(&self, test_id: &str) -> Result<()> {
        self.wait(&format!("`{test_id}` can be clicked"), async || {
            let Some(element) = self.page.find(&css(test_id)).await? else { return Ok(None) };
            // The driver leaves in place what is half under the edge of what scrolls, and clicks on the edge.
            let css = serde_json::to_string(&css(test_id))?;
            self.script(&format!("document.querySelector({css})?.scrollIntoView({{ block: 'nearest' }})"))
                .await?;
            Ok(self.page.click(&element).await?.then_some(()))
        })
        .await
    }

    /// Two clicks as fast as the pointer can.
    pub async fn double_click(&self, test_id: &str) -> Result<()> {
        self.see(test_id).await?;
        let element = self.page.find(&css(test_id)).await?.context("it was seen the line before")?;
        self.page.double_click(&element).await
    }

    /// The part, once it is on the screen.
    pub async fn see(&self, test_id: &str) -> Result<Part> {
        self.see_where(test_id, "is on the screen", |_| true).await
    }

    /// The part, once its text contains this.
    pub async fn see_text(&self, test_id: &str, text: &str) -> Result<Part> {
        self.see_where(test_id, &format!("says \"{text}\""), |part| part.text.contains(text)).await
    }

    /// The part, once its `data-state` is this.
    pub async fn see_state(&self, test_id: &str, state: &str) -> Result<Part> {
        self.see_where(test_id, &format!("is in the state {state}"), |part| part.is("state", state)).await
    }

    /// The part, once it is as asked. `what` completes the sentence "until `part` …".
    pub async fn see_where(&self, test_id: &str, what: &str, wanted: impl Fn(&Part) -> bool) -> Result<Part> {
        self.wait(&format!("`{test_id}` {what}"), async || {
            Ok(self.look(test_id).await?.filter(|part| wanted(part)))
        })
        .await
    }

    /// The first visible part that fits a CSS selector, once there is one.
    pub async fn see_match(&self, selector: &str) -> Result<Part> {
        let look = async || Ok(self.look_all(selector).await?.into_iter().next());
        self.wait(&format!("`{selector}` is on the screen"), look).await
    }

    /// Waits until the keyboard is in the part.
    pub async fn see_focused(&self, test_id: &str) -> Result<()> {
        self.see_match(&format!("{}:focus", css(test_id))).await?;
        Ok(())
    }

    /// Waits until the part is not on the screen any more.
    pub async fn see_gone(&self, test_id: &str) -> Result<()> {
        self.wait(&format!("`{test_id}` is gone"), async || {
            Ok(self.look(test_id).await?.is_none().then_some(()))
        })
        .await
    }

    /// The part as it is now, if it is on the screen.
    pub async fn look(&self, test_id: &str) -> Result<Option<Part>> {
        Ok(self.look_all(&css(test_id)).await?.into_iter().next())
    }

    /// The visible parts that fit a CSS selector, as they are now.
    pub async fn look_all(&self, selector: &str) -> Result<Vec<Part>> {
        let found = self.page.execute(LOOK, &[selector.into()]).await?;
        found.as_array().context("a list of parts")?.iter().map(read_part).collect()
    }

    /// Runs a script in the page; for what no person could see.
    pub async fn script(&self, script: &str) -> Result<Value> {
        self.page.execute(script, &[]).await
    }

    /// Waits for something that is not one part of the page; a wait in vain leaves a picture.
    pub async fn wait<T>(&self, what: &str, ask: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
        match until(what, ask).await {
            Ok(answer) => Ok(answer),
            Err(error) => {
                let name = std::thread::current().name().unwrap_or("window").replace("::", "-");
                let picture = self.screenshot(&format!("failed-{name}")).await;
                let text = self.script("return document.body.innerText").await;
                Err(error.context(format!("picture: {picture:?}\npage: {text:?}")))
            }
        }
    }

    /// Keeps a picture of the window and tells where.
    pub async fn screenshot(&self, name: &str) -> Result<PathBuf> {
        let folder = tree::screenshots();
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.png"));
        // What the page is may be a frame ahead of what was painted.
        self.page.execute(PAINTED, &[]).await?;
        fs::write(&path, self.page.screenshot().await?)?;
        Ok(path)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // The driver does not take its program along when it is killed.
        if let Some(till) = self.till {
            std::process::Command::new("kill").args(["-9", &till.to_string()]).status().ok();
        }
    }
}

fn css(test_id: &str) -> String {
    format!("[data-testid=\"{test_id}\"]")
}

/// Is there after everything up to now was painted.
const PAINTED: &str = "
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
";

/// Everything about the visible parts in one go, so that a page that changes meanwhile cannot tear it.
const LOOK: &str = "
    return [...document.querySelectorAll(arguments[0])]
        .filter((part) => part.checkVisibility())
        .map((part) => ({
            text: part.innerText,
            data: { ...part.dataset },
            value: part.value ?? null,
            isEnabled: !part.disabled,
        }));
";

fn read_part(part: &Value) -> Result<Part> {
    let Some(data) = part["data"].as_object() else { bail!("a part without data: {part}") };
    let data = data.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    Ok(Part {
        text: part["text"].as_str().context("a part has a text")?.to_owned(),
        data: data.collect(),
        value: part["value"].as_str().map(str::to_owned),
        is_enabled: part["isEnabled"].as_bool().context("a part is enabled or not")?,
    })
}
