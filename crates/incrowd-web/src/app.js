// Progressive enhancement of the pages: polls tasks, updates the release when k changes, accepts
// dropped files.
"use strict";
(() => {
  const gone = document.getElementById("gone");
  let unanswered = 0;

  // Sends a request. After two failures the page shows that the server does not answer.
  async function ask(address, options) {
    try {
      const answer = await fetch(address, { credentials: "omit", ...options });
      unanswered = 0;
      if (gone) gone.hidden = true;
      return answer;
    } catch (error) {
      if (error.name === "AbortError") throw error;
      unanswered += 1;
      if (unanswered > 1 && gone) gone.hidden = false;
      throw error;
    }
  }

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  function remaining(seconds) {
    if (seconds < 60) return `about ${Math.max(1, Math.round(seconds))} s left`;
    return `about ${Math.round(seconds / 60)} min left`;
  }

  // Replaces the parts of this page by those of a new page and keeps the state of details elements.
  function replace(text, parts) {
    const page = new DOMParser().parseFromString(text, "text/html");
    // The content of noscript elements would become active.
    page.querySelectorAll("noscript").forEach((other) => other.remove());
    for (const part of document.querySelectorAll("[data-part]")) {
      if (parts && !parts.includes(part.dataset.part)) continue;
      const other = page.querySelector(`[data-part="${part.dataset.part}"]`);
      if (!other) continue;
      const open = [...part.querySelectorAll("details")].map((details) => details.open);
      part.replaceWith(other);
      [...other.querySelectorAll("details")].forEach((details, i) => {
        details.open = open[i] || details.open;
      });
    }
    return page;
  }

  let round = 0;

  // Polls a task until it ends, then refreshes the page.
  async function follow(box, mine) {
    const address = box.dataset.task;
    for (;;) {
      if (mine !== round || !box.isConnected) return;
      let seen;
      try {
        const answer = await ask(address);
        if (!answer.ok) { await pause(1000); await refresh(mine); return; }
        seen = await answer.json();
      } catch { await pause(1000); continue; }
      if (mine !== round || !box.isConnected) return;
      if (seen.state !== "running" && seen.state !== "waiting") { await refresh(mine); return; }
      const bar = box.querySelector("progress");
      const step = box.querySelector(".step");
      step.textContent = seen.state === "waiting" ? "waiting" : seen.step || "";
      box.querySelector(".left").textContent = seen.left ? remaining(seen.left) : "";
      if (seen.total) {
        bar.max = seen.total;
        bar.value = Math.min(seen.done, seen.total);
      } else {
        bar.removeAttribute("value");
      }
    }
  }

  let refreshing = Promise.resolve();

  function refresh(mine) {
    refreshing = refreshing.then(async () => {
      if (mine !== round) return;
      const answer = await ask(location.href);
      const text = await answer.text();
      if (mine !== round) return;
      if (answer.redirected && answer.url !== location.href) {
        location.replace(answer.url);
        return;
      }
      if (!document.querySelector("[data-part]")) { location.reload(); return; }
      replace(text);
      watch();
    }).catch(() => {});
    return refreshing;
  }

  const followed = new WeakSet();

  function watch() {
    for (const box of document.querySelectorAll("[data-task]")) {
      if (followed.has(box)) continue;
      followed.add(box);
      follow(box, round);
    }
  }

  // The number and the slider of k are synchronized, and the release is updated.
  let asking = null;

  async function play(form, k) {
    if (asking) asking.abort();
    asking = new AbortController();
    const mine = ++round;
    try {
      const answer = await ask(`${form.dataset.play}${k}/release`, { signal: asking.signal });
      const text = await answer.text();
      if (mine !== round) return;
      history.pushState(null, "", answer.url);
      const page = replace(text, ["release", "alternatives", "compare"]);
      const own = page.querySelector("[data-play]");
      if (own) {
        form.dataset.play = own.dataset.play;
        form.action = own.getAttribute("action");
        form.querySelector(".note").textContent = own.querySelector(".note").textContent;
      }
      const steps = page.querySelector(".steps");
      if (steps) document.querySelector(".steps").replaceWith(steps);
      const on = page.querySelector(".on");
      if (on) document.querySelector(".on").replaceWith(on);
      watch();
    } catch (error) { if (error.name !== "AbortError") watch(); }
  }

  let moved;

  document.addEventListener("input", (event) => {
    const field = event.target.closest(".slider");
    if (!field || !event.target.matches("[data-number], [data-range]")) return;
    const number = field.querySelector("[data-number]");
    const range = field.querySelector("[data-range]");
    if (event.target === range) number.value = range.value; else range.value = number.value;
    const form = field.closest("[data-play]");
    const k = Number.parseInt(number.value, 10);
    if (!form || !(k >= 1)) return;
    clearTimeout(moved);
    moved = setTimeout(() => play(form, k), 120);
  });

  // A role is saved when it is chosen.
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-live]");
    if (form) {
      sessionStorage.setItem("scroll", String(window.scrollY));
      sessionStorage.setItem("focus", event.target.id);
      form.requestSubmit();
      return;
    }
    const into = event.target.dataset && event.target.dataset.into;
    if (into && event.target.files && event.target.files[0]) {
      event.target.files[0].text().then((text) => {
        document.getElementById(into).value = text;
        document.getElementById("way-tree").checked = true;
      });
    }
  });

  // The back button loads the page of that address.
  window.addEventListener("popstate", () => location.reload());

  // A dropped file is uploaded.
  for (const form of document.querySelectorAll("[data-drop]")) {
    const input = form.querySelector("input[type=file]");
    for (const name of ["dragenter", "dragover"]) {
      form.addEventListener(name, (event) => {
        event.preventDefault();
        form.classList.add("over");
      });
    }
    for (const name of ["dragleave", "drop"]) {
      form.addEventListener(name, () => form.classList.remove("over"));
    }
    form.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files.length) {
        input.files = event.dataTransfer.files;
        form.requestSubmit();
      }
    });
  }

  // Restores scroll position and focus after a role was saved.
  const scroll = sessionStorage.getItem("scroll");
  if (scroll !== null) {
    sessionStorage.removeItem("scroll");
    window.scrollTo(0, Number(scroll));
    const focus = document.getElementById(sessionStorage.getItem("focus") || "");
    if (focus) focus.focus({ preventScroll: true });
  }

  document.documentElement.classList.add("script");
  watch();
})();
