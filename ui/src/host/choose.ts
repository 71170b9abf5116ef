/** Which till is behind the page. The in-memory one exists in development and in the demo build only. */
import type { Host } from './host';
import { insideTauri, tauriHost } from './tauri';

export async function chooseHost(): Promise<Host> {
  if (import.meta.env.MODE === 'production' || insideTauri()) return tauriHost;
  const { openScene } = await import('./fake/scenes');
  return openScene(new URLSearchParams(location.search).get('scene') ?? 'welcome');
}
