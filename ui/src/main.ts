/** Opens the page on the till that is behind it. */
import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';
import { chooseHost } from './host/choose';

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app');

void chooseHost().then((host) => mount(App, { target, props: { host } }));
