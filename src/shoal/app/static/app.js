// Improvements over plain forms. All pages also work without this file.
"use strict";

document.documentElement.classList.add("js");

// A run in progress: server-sent events or, if they fail, polling every second.
for (const box of document.querySelectorAll("[data-events]")) {
  const text = box.querySelector(".stage");
  const bar = box.querySelector("progress");
  const show = (now) => {
    if (now.status !== "running") {
      location.reload();
      return false;
    }
    if (text.dataset.stage !== now.stage) {
      text.dataset.stage = now.stage;
    }
    text.textContent = now.text;
    if (now.share === null) bar.removeAttribute("value");
    else bar.value = now.share;
    return true;
  };
  const poll = async () => {
    try {
      const answer = await fetch(box.dataset.status);
      if (!show(await answer.json())) return;
    } catch {
      text.textContent = "The app does not respond. Check that it is still running in the terminal.";
    }
    setTimeout(poll, 1000);
  };
  if (!window.EventSource) {
    poll();
    continue;
  }
  const events = new EventSource(box.dataset.events);
  events.onmessage = (event) => {
    if (!show(JSON.parse(event.data))) events.close();
  };
  events.onerror = () => {
    events.close();
    poll();
  };
}

// A part of a page that does not come, because the app has ended or the part failed.
document.addEventListener("htmx:error", (event) => {
  const error = event.detail.error;
  const box = document.getElementById("messages");
  if (!box || error?.name === "AbortError" || box.querySelector(".unreachable")) return;
  const said = document.createElement("p");
  said.className = "problems unreachable";
  said.setAttribute("role", "alert");
  said.textContent = "The app does not respond. Check that it is still running in the terminal, then reload this page.";
  box.append(said);
});

// A table that is being read.
for (const line of document.querySelectorAll("[data-looking]")) {
  const poll = async () => {
    try {
      const now = await (await fetch(line.dataset.looking)).json();
      if (now.status !== "running") {
        location.reload();
        return;
      }
    } catch {
      // tried again below
    }
    setTimeout(poll, 400);
  };
  setTimeout(poll, 300);
}

// Show only the options of the chosen model.
const showOptions = (form) => {
  const kind = form.querySelector("select[name=model], select[data-kind]").value;
  for (const part of form.querySelectorAll("[data-for]")) {
    part.hidden = !part.dataset.for.split(" ").includes(kind);
  }
};
for (const form of document.querySelectorAll("form[data-model]")) {
  showOptions(form);
  form.addEventListener("change", () => showOptions(form));
}

// A dropped file, and how much of it has been sent.
const upload = document.getElementById("upload");
if (upload) {
  const input = upload.querySelector("input[type=file]");
  const drop = upload.querySelector(".drop");
  const state = document.getElementById("upload-state");
  const send = (file) => {
    const body = new FormData();
    body.append("file", file, file.name);
    const request = new XMLHttpRequest();
    request.open("POST", upload.action);
    request.setRequestHeader("X-Upload", "1");
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) {
        state.textContent = `Copying: ${Math.round((100 * event.loaded) / event.total)} %`;
      }
    };
    request.onload = () => {
      const next = request.getResponseHeader("x-location");
      if (next) location.assign(next);
      else state.textContent = request.getResponseHeader("x-problem") ?? "The file could not be opened. Try again, or choose another file.";
    };
    request.onerror = () => {
      state.textContent = "The app does not respond. Check that it is still running in the terminal.";
    };
    request.send(body);
  };
  upload.addEventListener("submit", (event) => {
    if (input.files.length) {
      event.preventDefault();
      send(input.files[0]);
    }
  });
  input.addEventListener("change", () => {
    if (input.files.length) send(input.files[0]);
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}

// Values that were entered before htmx had loaded, or that the browser restored after a reload, count as changes too.
const isChanged = (field) => {
  if (field instanceof HTMLSelectElement) {
    const first = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(0, first);
  }
  return field.type === "checkbox" || field.type === "radio"
    ? field.checked !== field.defaultChecked
    : field.value !== field.defaultValue;
};
// htmx, whose script is loaded first, also starts in a timeout, so this runs after it.
setTimeout(() => {
  for (const form of document.querySelectorAll("form[hx-trigger]")) {
    const field = [...form.elements].find((one) => one.name && isChanged(one));
    field?.dispatchEvent(new Event("change", { bubbles: true }));
  }
  for (const field of document.querySelectorAll("select[hx-trigger], input[hx-trigger]")) {
    if (isChanged(field)) field.dispatchEvent(new Event("change", { bubbles: true }));
  }
});

// A point of a chart presses the button of its row.
for (const point of document.querySelectorAll("svg.points a")) {
  point.addEventListener("click", (event) => {
    const button = document.querySelector(`${point.getAttribute("href")} button`);
    if (!button) return;
    event.preventDefault();
    button.click();
  });
}
