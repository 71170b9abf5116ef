/** Which till is behind the page. The in-memory one exists in development and in the demo build only. */
import type { TextSize } from '../bindings/TextSize';
import type { Theme } from '../bindings/Theme';
import type { Host } from './host';
import { insideTauri, tauriHost } from './tauri';

export async function chooseHost(): Promise<Host> {
  if (import.meta.env.MODE === 'production' || insideTauri()) return tauriHost;
  const { openScene } = await import('./fake/scenes');
  const asked = new URLSearchParams(location.search);
  const till = await openScene(asked.get('scene') ?? 'welcome');
  const appearance = {
    theme: (asked.get('theme') ?? 'light') as Theme,
    text_size: (asked.get('size') ?? 'normal') as TextSize,
  };
  await till.setAppearance({ appearance });
  return till;
}
