// The tree of a column, edited by mouse and by keyboard. The outline next to it is what is saved, after every change.
"use strict";

{
  const LARGE = 40;  // lines above which branches begin closed
  const PAUSE = 800;  // milliseconds after which typed letters begin a new search
  const several = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
  const short = (label) => `‘${label.length > 40 ? `${label.slice(0, 39)}…` : label}’`;
  let made = 0;

  // A value has no list of parts; an empty branch has an empty one.
  const node = (label, parts, above = null) => ({ id: ++made, label, parts, above });

  const read = (outline) => {
    const top = node("", []);
    const open = [[-1, top]];
    for (const line of outline.split("\n")) {
      if (!line.trim()) continue;
      const depth = line.length - line.trimStart().length;
      while (open.at(-1)[0] >= depth) open.pop();
      const above = open.at(-1)[1];
      above.parts ??= [];
      const found = node(line.trim(), null, above);
      above.parts.push(found);
      open.push([depth, found]);
    }
    const root = top.parts[0];
    root.above = null;
    root.parts ??= [];
    return root;
  };

  const each = function* (one) {
    yield one;
    for (const part of one.parts ?? []) yield* each(part);
  };
  const valuesOf = (one) => [...each(one)].filter((part) => !part.parts);
  const write = (one, indent = "") =>
    !valuesOf(one).length
      ? ""  // a line without others below it would be a value
      : `${indent}${one.label}\n${(one.parts ?? []).map((part) => write(part, `${indent}  `)).join("")}`;
  const copy = (one, above = null) => {
    const found = { ...one, above };
    found.parts = one.parts && one.parts.map((part) => copy(part, found));
    return found;
  };
  const isWithin = (one, branch) => {
    for (; one; one = one.above) if (one === branch) return true;
    return false;
  };

  class Editor {
    constructor(box) {
      this.box = box;
      this.counts = JSON.parse(box.dataset.counts);
      this.added = new Set(JSON.parse(box.dataset.added));
      this.text = document.getElementById(`outline-${box.dataset.tree}`);
      this.list = box.querySelector("[role=tree]");
      this.find = box.querySelector("input[type=search]");
      this.naming = box.querySelector("form");
      this.status = box.querySelector("[role=status]");
      this.root = read(this.text.value);
      const lines = [...each(this.root)];
      this.closed = new Set(
        lines.length > LARGE ? lines.filter((one) => one.parts && one.above).map((one) => one.id) : []
      );
      this.chosen = new Set();
      this.cut = new Set();
      this.past = [];
      this.future = [];
      this.current = this.root.id;
      this.anchor = this.root.id;  // where a selection with Shift begins
      this.joins = "";
      this.typed = ["", 0];
      this.listen();
      this.draw();
    }

    get nodes() {
      return new Map([...each(this.root)].map((one) => [one.id, one]));
    }

    get focused() {
      return this.nodes.get(this.current) ?? this.root;
    }

    // What a change applies to: the selected nodes or, without any, the one in focus.
    targets(ids = this.chosen) {
      const all = this.nodes;
      const found = [...(ids.size ? ids : [this.current])].map((id) => all.get(id)).filter((one) => one?.above);
      return found.filter((one) => !found.some((other) => other !== one && isWithin(one, other)));
    }

    say(text) {
      this.status.textContent = text;
    }

    listen() {
      const deeds = {
        branch: () => this.newBranch(),
        rename: () => this.rename(),
        remove: () => this.remove(),
        cut: () => this.cutOut(),
        put: () => this.put(),
        undo: () => this.undo(),
        redo: () => this.redo(),
        choose: () => this.chooseFound(),
        escape: () => this.escape(),
      };
      this.box.addEventListener("click", (event) => {
        const deed = event.target.closest("[data-do]")?.dataset.do;
        if (deed) deeds[deed]();
      });
      this.find.addEventListener("input", () => this.draw());
      this.naming.addEventListener("submit", (event) => {
        event.preventDefault();
        this.named();
      });
      this.naming.addEventListener("keydown", (event) => {
        if (event.key === "Escape") this.escape();
      });
      this.list.addEventListener("keydown", (event) => this.press(event));
      this.list.addEventListener("click", (event) => this.click(event));
      this.list.addEventListener("focusin", (event) => {
        const id = Number(event.target.dataset.id);
        if (id !== this.current) {
          this.item(this.current)?.setAttribute("tabindex", "-1");
          this.current = id;
          event.target.tabIndex = 0;
          this.showDeeds();
        }
      });
      this.listenToDrags();
      window.addEventListener("beforeunload", (event) => {
        if (this.isSaving) event.preventDefault();
      });
    }

    listenToDrags() {
      let over = null;
      let opening = 0;
      const leave = () => {
        over?.classList.remove("over");
        clearTimeout(opening);
        over = null;
      };
      this.list.addEventListener("dragstart", (event) => {
        const id = Number(event.target.closest("[data-id]").dataset.id);
        this.dragged = this.chosen.has(id) ? new Set(this.chosen) : new Set([id]);
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData("text/plain", "");
      });
      this.list.addEventListener("dragover", (event) => {
        const row = event.target.closest(".row");
        if (!this.dragged || !row) return;
        event.preventDefault();
        if (row === over) return;
        leave();
        over = row;
        row.classList.add("over");
        const branch = this.nodes.get(Number(row.dataset.id));
        opening = setTimeout(() => {  // a closed branch opens under what is held over it
          if (branch?.parts && this.closed.has(branch.id)) this.toggle(branch, true);
        }, 700);
      });
      this.list.addEventListener("dragleave", (event) => {
        if (!this.list.contains(event.relatedTarget)) leave();
      });
      this.list.addEventListener("drop", (event) => {
        const row = event.target.closest(".row");
        if (!this.dragged || !row) return;
        event.preventDefault();
        leave();
        this.move(this.targets(this.dragged), this.nodes.get(Number(row.dataset.id)));
      });
      this.list.addEventListener("dragend", () => {
        leave();
        this.dragged = null;
      });
    }

    // Which nodes are shown: all in open branches, or what is searched for and the branches above it.
    draw() {
      const sought = this.find.value.trim().toLowerCase();
      this.found = new Set();
      const shown = new Set();
      if (sought) {
        for (const one of each(this.root)) {
          if (!one.label.toLowerCase().includes(sought)) continue;
          this.found.add(one.id);
          for (let up = one; up; up = up.above) shown.add(up.id);
        }
        this.say(`${several(this.found.size, "name")} found.`);
      }
      this.box.querySelector("[data-do=choose]").hidden = !this.found.size;
      this.visible = [];
      const hadFocus = this.list.contains(document.activeElement);
      this.list.replaceChildren(...this.items([this.root], sought ? shown : null));
      if (!this.visible.includes(this.current)) this.current = this.visible[0] ?? this.root.id;
      const item = this.item(this.current);
      if (item) item.tabIndex = 0;
      if (hadFocus) item?.focus();
      this.showDeeds();
    }

    items(nodes, shown, level = 1) {
      const made = (name, kind, text = "") => Object.assign(document.createElement(name), { className: kind, textContent: text });
      const given = nodes.filter((one) => !shown || shown.has(one.id));
      return given.map((one, place) => {
        this.visible.push(one.id);
        const line = document.createElement("li");
        line.setAttribute("role", "none");
        const row = line.appendChild(made("div", "row"));
        row.dataset.id = one.id;
        row.tabIndex = -1;
        row.draggable = Boolean(one.above);
        row.classList.toggle("cut", this.cut.has(one.id));
        const isOpen = Boolean(shown) || !this.closed.has(one.id);
        const facts = { role: "treeitem", "aria-level": level, "aria-posinset": place + 1, "aria-setsize": given.length };
        facts["aria-selected"] = this.chosen.has(one.id);
        if (one.parts?.length) facts["aria-expanded"] = isOpen;
        for (const [name, value] of Object.entries(facts)) row.setAttribute(name, value);
        const arrow = made("span", "opens", one.parts?.length ? (isOpen ? "▾" : "▸") : "");
        arrow.setAttribute("aria-hidden", "true");
        row.append(arrow, made("span", "label", one.label), " ", made("span", "quiet", this.about(one)));
        if (this.cut.has(one.id)) row.append(made("span", "hidden", ", cut"));
        if (one.parts?.length && isOpen) {
          const group = line.appendChild(document.createElement("ul"));
          group.setAttribute("role", "group");
          group.append(...this.items(one.parts, shown, level + 1));
        }
        return line;
      });
    }

    about(one) {
      if (one.parts) return one.parts.length ? several(valuesOf(one).length, "value") : "empty, not saved";
      const count = this.counts[one.label];
      const records = count < 0 ? "fewer than 10 records" : count ? several(count, "record") : "no record";
      if (!this.added.has(one.label)) return records;
      return count ? `${records}, new` : "only in the new file";
    }

    item(id) {
      return this.list.querySelector(`[data-id="${id}"]`);
    }

    go(id) {
      this.item(id)?.focus();
    }

    showDeeds() {
      const one = this.focused;
      const button = (name) => this.box.querySelector(`[data-do=${name}]`);
      button("rename").disabled = !one.parts;
      button("remove").disabled = !one.above || (!one.parts && this.counts[one.label] !== 0);
      button("cut").disabled = !this.targets().length;
      button("put").disabled = !this.cut.size;
      const [undo, redo] = [this.past.at(-1), this.future.at(-1)];
      button("undo").textContent = undo ? `Undo: ${undo.name}` : "Nothing to undo";
      button("undo").disabled = !undo;
      button("redo").textContent = `Redo: ${redo?.name ?? ""}`;
      button("redo").hidden = !redo;
    }

    toggle(one, isOpen) {
      if (isOpen) this.closed.delete(one.id);
      else this.closed.add(one.id);
      this.draw();
    }

    choose(ids) {
      this.chosen = new Set(ids);
      this.chosen.delete(this.root.id);
      for (const item of this.list.querySelectorAll("[data-id]")) {
        item.setAttribute("aria-selected", this.chosen.has(Number(item.dataset.id)));
      }
      this.showDeeds();
    }

    chooseFound() {
      const found = valuesOf(this.root).filter((one) => this.found.has(one.id));
      this.find.value = "";
      for (const one of found) for (let up = one.above; up; up = up.above) this.closed.delete(up.id);
      this.chosen = new Set(found.map((one) => one.id));
      this.current = found[0]?.id ?? this.current;
      this.draw();
      this.go(this.current);
      this.say(`${several(found.length, "value")} selected.`);
    }

    click(event) {
      const item = event.target.closest("[data-id]");
      if (!item) return;
      const one = this.nodes.get(Number(item.dataset.id));
      item.focus();
      if (event.shiftKey) this.chooseUpTo(one.id);
      else if (event.ctrlKey || event.metaKey) this.flip(one.id);
      else {
        this.anchor = one.id;
        if (this.chosen.size) this.choose([]);
        if (event.target.closest(".opens") && one.parts) this.toggle(one, this.closed.has(one.id));
      }
    }

    flip(id) {
      const ids = new Set(this.chosen);
      if (!ids.delete(id)) ids.add(id);
      this.anchor = id;
      this.choose(ids);
      this.say(`${this.chosen.size} selected.`);
    }

    // All between the last one clicked or reached without Shift and this one.
    chooseUpTo(id) {
      const ends = [this.anchor, id].map((one) => Math.max(0, this.visible.indexOf(one)));
      this.choose(this.visible.slice(Math.min(...ends), Math.max(...ends) + 1));
      this.say(`${this.chosen.size} selected.`);
    }

    press(event) {
      const one = this.focused;
      const place = this.visible.indexOf(one.id);
      const isOpen = one.parts?.length && this.item(one.id)?.getAttribute("aria-expanded") === "true";
      const step = (to) => {
        const next = this.visible[Math.min(Math.max(to, 0), this.visible.length - 1)];
        if (event.shiftKey) this.chooseUpTo(next);
        else this.anchor = next;
        this.go(next);
      };
      const keys = {
        ArrowDown: () => step(place + 1),
        ArrowUp: () => step(place - 1),
        Home: () => step(0),
        End: () => step(this.visible.length - 1),
        ArrowRight: () => {
          if (isOpen) step(place + 1);
          else if (one.parts?.length) this.toggle(one, true);
        },
        ArrowLeft: () => {
          if (isOpen) this.toggle(one, false);
          else if (one.above) this.go(one.above.id);
        },
        Enter: () => one.parts && this.toggle(one, !isOpen),
        " ": () => this.flip(one.id),
        F2: () => this.rename(),
        Delete: () => this.remove(),
        Insert: () => this.newBranch(),
        Escape: () => this.escape(),
      };
      const held = {
        x: () => this.cutOut(),
        v: () => this.put(),
        z: () => (event.shiftKey ? this.redo() : this.undo()),
        y: () => this.redo(),
        a: () => this.choose((one.above ?? one).parts.map((part) => part.id)),
      };
      const isHeld = event.ctrlKey || event.metaKey;
      const deed = isHeld ? held[event.key.toLowerCase()] : keys[event.key];
      if (deed) {
        event.preventDefault();
        this.typed = ["", 0];
        deed();
      } else if (!isHeld && !event.altKey && event.key.length === 1) this.seek(event.key, place);
    }

    // The next name that begins with the letters typed.
    seek(letter, place) {
      const [text, at] = this.typed;
      this.typed = [Date.now() - at < PAUSE ? text + letter : letter, Date.now()];
      const all = this.nodes;
      const from = this.typed[0].length > 1 ? place : place + 1;
      const order = [...this.visible.slice(from), ...this.visible.slice(0, from)];
      const next = order.find((id) => all.get(id).label.toLowerCase().startsWith(this.typed[0].toLowerCase()));
      if (next) this.go(next);
    }

    escape() {
      this.naming.hidden = true;
      this.cut.clear();
      this.chosen.clear();
      this.draw();
      this.go(this.current);
      this.say("");
    }

    inWords(nodes) {
      return nodes.length === 1 ? short(nodes[0].label) : several(nodes.length, "entry", "entries");
    }

    cutOut() {
      const nodes = this.targets();
      if (!nodes.length) return;
      this.cut = new Set(nodes.map((one) => one.id));
      this.draw();
      this.say(`Cut ${this.inWords(nodes)}. Go to a branch and press Ctrl+V, or Put here. Escape leaves everything as it is.`);
    }

    put() {
      if (!this.cut.size) this.say("Nothing is cut. Press Ctrl+X at a value or branch first.");
      else this.move(this.targets(this.cut), this.focused);
    }

    move(nodes, target) {
      const branch = target.parts ? target : target.above;
      if (nodes.some((one) => isWithin(branch, one))) {
        this.say("A branch cannot be moved into itself. Choose another branch.");
        return;
      }
      const moved = nodes.filter((one) => one.above !== branch);
      if (!moved.length) {
        this.say(`${this.inWords(nodes)} ${nodes.length === 1 ? "is" : "are"} already in ${short(branch.label)}.`);
        return;
      }
      this.change(`move ${this.inWords(moved)} to ${short(branch.label)}`, () => {
        for (const one of moved) this.hang(one, branch);
        this.closed.delete(branch.id);
        this.current = moved[0].id;
      });
      this.say(`Moved ${this.inWords(moved)} to ${short(branch.label)}.`);
    }

    hang(one, branch, place = branch.parts.length) {
      one.above.parts.splice(one.above.parts.indexOf(one), 1);
      branch.parts.splice(Math.min(place, branch.parts.length), 0, one);
      one.above = branch;
    }

    newBranch() {
      const nodes = this.chosen.size ? this.targets() : [];
      this.ask("", (label) => {
        this.change(`new branch ${short(label)}`, () => {
          const above = nodes.length ? nodes[0].above : this.focused.parts ? this.focused : this.focused.above;
          const branch = node(label, [], above);
          const place = nodes.length ? above.parts.indexOf(nodes[0]) : above.parts.length;
          above.parts.splice(place, 0, branch);
          for (const one of nodes) this.hang(one, branch);
          this.closed.delete(above.id);
          this.current = branch.id;
        });
        this.say(nodes.length ? `${short(label)} has ${this.inWords(nodes)}.` : `${short(label)} is empty. Move values into it.`);
      });
    }

    rename() {
      const one = this.focused;
      if (!one.parts) {
        this.say("A value of the table keeps its name. Only branches can be renamed.");
        return;
      }
      this.ask(one.label, (label) => {
        if (label === one.label) return;
        this.change(`rename ${short(one.label)}`, () => {
          this.focused.label = label;
        });
        this.say(`Renamed to ${short(label)}.`);
      }, one);
    }

    remove() {
      const one = this.focused;
      if (!one.above) this.say("The top of the tree has all values. It can be renamed, but not removed.");
      else if (!one.parts && this.counts[one.label] !== 0) {
        this.say("A value that records have stays in the tree. Move it to another branch instead.");
      } else {
        this.change(`remove ${short(one.label)}`, () => {
          const { above, parts } = this.focused;
          const place = above.parts.indexOf(this.focused);
          above.parts.splice(place, 1, ...(parts ?? []));
          for (const part of parts ?? []) part.above = above;
          this.current = (parts?.[0] ?? above).id;
        });
        this.say(`Removed ${short(one.label)}.${one.parts?.length ? ` What was in it is now in ${short(one.above.label)}.` : ""}`);
      }
    }

    // Ask for the name of a branch.
    ask(label, then, own = null) {
      this.then = (given) => {
        const taken = [...each(this.root)].some((one) => one.id !== own?.id && one.label === given);
        if (!given) this.say("A branch needs a name. Enter one.");
        else if (taken) this.say(`${short(given)} is already a value or a branch. Choose another name.`);
        else if (given === "*" && own !== this.root) this.say("Only the top of the tree may be called *. Choose another name.");
        else {
          this.naming.hidden = true;
          then(given);
          this.go(this.current);
        }
      };
      this.naming.hidden = false;
      const input = this.naming.querySelector("input");
      input.value = label;
      input.focus();
      input.select();
    }

    named() {
      this.then(this.naming.querySelector("input").value.trim().replace(/\s+/g, " "));
    }

    change(name, make) {
      this.past.push({ name, root: copy(this.root) });
      this.future = [];
      make();
      this.changed();
    }

    undo() {
      this.step(this.past, this.future, "Undone");
    }

    redo() {
      this.step(this.future, this.past, "Done again");
    }

    step(from, to, said) {
      const last = from.pop();
      if (!last) {
        this.say(`Nothing to ${from === this.past ? "undo" : "redo"}.`);
        return;
      }
      to.push({ name: last.name, root: this.root });
      this.root = last.root;
      this.changed();
      this.say(`${said}: ${last.name}.`);
    }

    changed() {
      this.chosen.clear();
      this.cut.clear();
      this.find.value = "";
      for (let up = this.focused.above; up; up = up.above) this.closed.delete(up.id);
      this.draw();
      this.go(this.current);
      this.text.value = write(this.root);
      this.save();
    }

    // Save the outline; changes made meanwhile are saved after it.
    async save() {
      this.isStale = this.isSaving;
      if (this.isSaving) return;
      this.isSaving = true;
      const levels = document.getElementById(`preview-${this.box.dataset.tree}`);
      levels.setAttribute("aria-busy", "true");
      try {
        const body = new URLSearchParams({ how: "outline", outline: this.text.value, joins: this.joins });
        const answer = await fetch(this.box.dataset.address, { method: "POST", body, headers: { "HX-Request": "true" } });
        levels.innerHTML = answer.ok ? await answer.text() : "";
        if (!answer.ok) this.say("The tree could not be saved. Reload the page and try again.");
        else if (answer.headers.get("x-tree")) {
          this.joins = answer.headers.get("x-tree");
          document.getElementById(`added-${this.box.dataset.tree}`)?.remove();
          document.body.dispatchEvent(new Event("changed"));
        }
      } catch {
        this.say("The app does not respond, so the tree is not saved. Check that it is still running in the terminal.");
      }
      levels.removeAttribute("aria-busy");
      this.isSaving = false;
      if (this.isStale) this.save();
    }
  }

  const start = () => {
    for (const box of document.querySelectorAll("[data-tree]:not([data-ready])")) {
      box.dataset.ready = "";
      new Editor(box);
    }
  };
  document.addEventListener("htmx:after:swap", start);
  start();
}
