//! What the axe engine finds on a view in the real window, in every theme: nothing that WCAG 2.2 AA forbids and that
//! would keep somebody from selling.

use anyhow::{Context, Result};
use turno_tests::{Window, tree};

/// The engine's own words for what keeps people out; `minor` and `moderate` are advice.
const RUN: &str = "
    const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const root = document.documentElement;
    const chosen = root.dataset.theme;
    // Colours that fade would be measured half way. The page's policy forbids an element for it.
    const still = new CSSStyleSheet();
    still.replaceSync('* { transition: none !important; animation: none !important }');
    document.adoptedStyleSheets.push(still);
    const found = [];
    return (async () => {
        for (const theme of ['light', 'dark', 'high_contrast']) {
            root.dataset.theme = theme;
            const { violations } = await axe.run(document, { runOnly: rules, resultTypes: ['violations'] });
            for (const { id, impact, nodes } of violations) {
                if (impact !== 'serious' && impact !== 'critical') continue;
                for (const { target, any } of nodes) {
                    found.push([theme, id, target.join(' '), any[0]?.message ?? ''].join(' | '));
                }
            }
        }
        root.dataset.theme = chosen;
        document.adoptedStyleSheets.pop();
        return found;
    })();
";

/// What axe finds on the view as it is now.
pub async fn violations(till: &Window) -> Result<Vec<String>> {
    let engine = tree::root().join("ui/node_modules/axe-core/axe.min.js");
    let engine = std::fs::read_to_string(&engine)
        .with_context(|| format!("{} is a package of the page", engine.display()))?;
    let found = till.script(&format!("{engine};{RUN}")).await?;
    Ok(serde_json::from_value(found)?)
}
