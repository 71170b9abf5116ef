import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';

// The page must work under the shell's strict policy; `npm run preview` serves the demo under the same one.
const CONTENT_SECURITY_POLICY = "default-src 'self'; script-src 'self'; style-src 'self'; object-src 'none'";

export default defineConfig({
  plugins: [svelte(), svelteTesting()],
  server: { port: 5173, strictPort: true },
  preview: { headers: { 'Content-Security-Policy': CONTENT_SECURITY_POLICY } },
  build: {
    target: 'es2022',
    // A data: URL in a style sheet would need a wider policy.
    assetsInlineLimit: 0,
  },
  test: {
    environment: 'happy-dom',
    include: ['tests/**/*.test.ts', 'src/**/*.test.ts'],
    restoreMocks: true,
  },
});
