import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

/** Three tiers, shared → domain → views: a lower one never imports from a higher one. */
const tier = (files, ...above) => ({
  files,
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          { group: ['@tauri-apps/*'], message: 'only src/host/tauri.ts talks to the shell' },
          ...above.map((name) => ({
            group: [`**/${name}/**`],
            message: 'a lower tier never imports a higher one',
          })),
        ],
      },
    ],
  },
});

export default ts.config(
  { ignores: ['dist/', 'src/bindings/', 'node_modules/'] },
  js.configs.recommended,
  ...ts.configs.strictTypeChecked,
  ...svelte.configs.recommended,
  ...svelte.configs.prettier,
  {
    languageOptions: {
      globals: globals.browser,
      parserOptions: { projectService: true, extraFileExtensions: ['.svelte'] },
    },
    rules: {
      '@typescript-eslint/only-throw-error': ['error', { allow: ['Problem'] }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'no-restricted-properties': [
        'error',
        { property: 'toFixed', message: 'money is whole minor units; shared/money.ts writes it' },
        { property: 'innerHTML', message: 'text stays text' },
      ],
      'no-restricted-globals': [
        'error',
        { name: 'parseFloat', message: 'no floats near money' },
        { name: 'fetch', message: 'the page reaches no network' },
      ],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
    rules: {
      'svelte/no-at-html-tags': 'error',
      // A strict style-src blocks style attributes.
      'svelte/no-inline-styles': 'error',
      'svelte/require-each-key': 'error',
    },
  },
  {
    // Between components the linter sees `any` where svelte-check sees the real types.
    files: ['**/*.svelte'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  tier(['src/shared/**'], 'domain', 'views', 'host'),
  tier(['src/domain/**'], 'views'),
  tier(['src/views/**']),
  tier(['src/i18n/**'], 'domain', 'views', 'host'),
  { files: ['*.js', '*.ts'], ...ts.configs.disableTypeChecked },
);
