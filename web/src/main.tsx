// The entry: reads the list of questions and shows it in the place the page has for it.

import { render } from "preact";
import { App } from "./app";
import { readIndex } from "./decode";
import { Navigation, onFollowedLink } from "./navigation";
import { keepScrollersReachable } from "./scrollers";

async function start(place: HTMLElement) {
  const navigation = new Navigation();
  try {
    const index = await readIndex();
    render(<App index={index} navigation={navigation} />, place);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    render(<p class="note bad">The list of questions cannot be shown: {cause}.</p>, place);
  }
  const arrive = () => place.closest("section")?.scrollIntoView();
  onFollowedLink(arrive);
  if (navigation.view.q === null && location.hash.startsWith("#/")) arrive();
}

keepScrollersReachable();
const place = document.getElementById("app");
if (place) void start(place);
