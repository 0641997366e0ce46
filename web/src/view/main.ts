// The script of the viewer's own pages. Every page works without it; it adds live progress and keys.
import { keepScrollersReachable } from "../scrollers";
import { watch } from "./progress";
import { listenForKeys } from "./keys";
import { chooseRuns } from "./choice";

keepScrollersReachable();

const list = document.querySelector<HTMLElement>("[data-live]");
if (list) watch(list);

const choice = document.querySelector<HTMLFormElement>("form.choice-of-runs");
if (choice) chooseRuns(choice);

const question = document.querySelector<HTMLFormElement>("form.label");
if (question) listenForKeys(question);
