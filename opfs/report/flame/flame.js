// SPDX-License-Identifier: GPL-2.0-or-later
// Zoom, search and keys.  All that it shows is in the file: a frame is a rect with a
// title, in a row for each depth; a text behind it is its label.
'use strict';
{
	const ALL = 11800; // the width of all; widths are in tenths of a pixel
	const LETTER = 67, PAD = 20; // of a label
	const DETAILS_COLUMNS = 178;
	// "name (image) 12 samples, 3.40%": an image may hold (parentheses) itself
	const TITLE = /^(.*?)(?: \(((?:[^()]|\([^()]*\))*)\))? \d+ samples?, /s;

	const svg = document.currentScript.ownerSVGElement;
	const graph = svg.querySelector('#frames');
	const details = svg.querySelector('#details');
	const frames = [], frameOf = new Map(), actionOf = new Map();
	let zoomed, focused, shown = null, searched = '';

	function add(parent, name, attributes, text = '') {
		const e = document.createElementNS(svg.namespaceURI, name);
		for (const a in attributes)
			e.setAttribute(a, attributes[a]);
		e.textContent = text;
		return parent.appendChild(e);
	}

	// ---- frames

	// Rows come from the root on, and frames of a row from left to right: the caller
	// is the first one of the row before that does not end left of the frame.
	function read() {
		let before = [];
		graph.querySelectorAll('g').forEach((row, depth) => {
			let at = 0;
			before = [...row.querySelectorAll('rect')].map(rect => {
				const f = readFrame(rect, depth);
				while (depth && before[at].end <= f.x)
					at++;
				f.caller = before[at];
				if (f.caller)
					f.caller.callees.push(f);
				return f;
			});
		});
	}

	function readFrame(rect, depth) {
		const x = Math.round(10 * rect.getAttribute('x'));
		const width = Math.round(10 * rect.getAttribute('width'));
		const title = rect.textContent;
		const [, name, image = ''] = TITLE.exec(title);
		const next = rect.nextSibling;
		const label = next && next.localName === 'text' ? next : null;
		const f = { rect, label, title, name, image, depth, x, width,
			end: x + width, callees: [] };
		frameOf.set(rect, f);
		frames.push(f);
		return f;
	}

	// As label.c cuts it.
	function cut(text, columns) {
		let used = 0, shorter = '', all = '';
		for (const c of text) {
			used += c > '\u0fff' ? 2 : 1;
			if (used > columns)
				return shorter && shorter + '\u2026';
			all += c;
			if (used < columns)
				shorter = all;
		}
		return all;
	}

	function setLabel(f, x, width) {
		const columns = Math.floor((width - 2 * PAD) / LETTER);
		const text = columns < 2 ? '' : cut(f.name, columns);
		if (!f.label && text) {
			f.label = add(f.rect.parentNode, 'text', { y: 11 });
			f.rect.after(f.label);
		}
		if (f.label) {
			f.label.textContent = text;
			f.label.setAttribute('x', (x + PAD) / 10);
		}
	}

	// A width of 0 hides it.
	function place(f, x, width) {
		f.hidden = !width;
		f.rect.setAttribute('display', f.hidden ? 'none' : 'inline');
		f.rect.setAttribute('x', x / 10);
		f.rect.setAttribute('width', width / 10);
		setLabel(f, x, width);
	}

	// The frame gets all the width, and so do its callers, which lead back.
	function zoom(to) {
		const scale = ALL / to.width;
		zoomed = to;
		for (const f of frames) {
			const around = f.x <= to.x && f.end >= to.end;
			const inside = f.x >= to.x && f.end <= to.end;
			const below = around && f.depth < to.depth;
			f.rect.classList.toggle('below', below);
			if (inside && f.depth >= to.depth)
				place(f, (f.x - to.x) * scale, f.width * scale);
			else
				place(f, 0, below ? ALL : 0);
		}
		reset.setAttribute('display', to === frames[0] ? 'none' : 'inline');
		if (focused.hidden)
			setFocused(to);
		remember();
	}

	// ---- search

	// The share of samples with a match in their stack: frames above one that matches
	// are of the same samples.
	function search(text) {
		let re = null, share = 0;
		searched = text;
		found.textContent = '';
		try {
			re = text && new RegExp(text, 'i');
		} catch (e) {
			found.textContent = 'not a regular expression';
		}
		for (const f of frames) {
			const match = !!re && (re.test(f.name) || re.test(f.image));
			const counted = !!f.caller && f.caller.counted;
			f.counted = match || counted;
			f.rect.classList.toggle('match', match);
			if (match && !counted)
				share += f.width;
		}
		share = (100 * share / ALL).toFixed(1);
		if (re)
			found.textContent = `matches: ${share}% of all`;
		remember();
	}

	function openSearch() {
		box.setAttribute('display', 'inline');
		input.focus();
		input.select();
	}

	function closeSearch() {
		input.value = '';
		box.setAttribute('display', 'none');
		search('');
		focused.rect.focus();
	}

	// ---- what is kept in the address

	function remember() {
		const state = new URLSearchParams();
		if (zoomed && zoomed !== frames[0])
			state.set('zoom', frames.indexOf(zoomed));
		if (searched)
			state.set('search', searched);
		try {
			history.replaceState(null, '', '#' + state);
		} catch (e) {
			// a document without an address of its own
		}
	}

	function recall() {
		const state = new URLSearchParams(location.hash.slice(1));
		const text = state.get('search') || '';
		input.value = text;
		box.setAttribute('display', text ? 'inline' : 'none');
		zoom(frames[+state.get('zoom')] || frames[0]);
		search(text);
	}

	// ---- mouse and keys

	function setFocused(f) {
		if (focused)
			focused.rect.setAttribute('tabindex', -1);
		focused = f;
		f.rect.setAttribute('tabindex', 0);
	}

	function moveTo(f) {
		setFocused(f);
		f.rect.focus();
	}

	function show(f) {
		shown = f;
		details.textContent = f ? cut(f.title, DETAILS_COLUMNS) : '';
	}

	function beside(f, step) {
		let i = frames.indexOf(f) + step;
		while (frames[i] && frames[i].hidden)
			i += step;
		return frames[i] && frames[i].depth === f.depth ? frames[i] : null;
	}

	function widest(f) {
		const seen = f.callees.filter(c => !c.hidden);
		return seen.reduce((a, b) => !a || b.width > a.width ? b : a, null);
	}

	const icicle = graph.classList.contains('icicle');
	const steps = {
		ArrowLeft: f => beside(f, -1),
		ArrowRight: f => beside(f, 1),
		[icicle ? 'ArrowUp' : 'ArrowDown']: f => f.caller,
		[icicle ? 'ArrowDown' : 'ArrowUp']: widest,
		Home: () => frames[0],
	};

	function escape() {
		if (searched || box.getAttribute('display') !== 'none')
			closeSearch();
		else
			zoom(frames[0]);
	}

	function frameKey(key) {
		if (key === 'Enter' || key === ' ') {
			zoom(focused);
		} else if (steps[key]) {
			moveTo(steps[key](focused) || focused);
		} else {
			return false;
		}
		return true;
	}

	function onKey(e) {
		const find = e.key === 'f' && (e.ctrlKey || e.metaKey);
		let taken = true;
		if (e.key === 'Escape')
			escape();
		else if (e.target === input)
			return; // where a second Ctrl-F is the browser's own
		else if (find || (e.key === '/' && !e.ctrlKey && !e.altKey))
			openSearch();
		else if (e.key === 'Enter' && actionOf.has(e.target))
			actionOf.get(e.target)();
		else
			taken = frameOf.has(e.target) && frameKey(e.key);
		if (taken)
			e.preventDefault();
	}

	function addButton(x, text, action) {
		const b = add(svg, 'text', { class: 'button', role: 'button', tabindex: 0,
			x, y: 24, 'text-anchor': 'end' }, text);
		b.addEventListener('click', action);
		actionOf.set(b, action);
		return b;
	}

	const found = add(svg, 'text', { id: 'found', 'aria-live': 'polite',
		x: 1040, y: 24, 'text-anchor': 'end' });
	const reset = addButton(1130, 'reset zoom', () => zoom(frames[0]));
	addButton(1190, 'search', openSearch);
	const box = add(svg, 'foreignObject',
		{ x: 890, y: 32, width: 300, height: 24 });
	const input = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
	box.append(input);
	input.placeholder = 'regular expression';
	input.setAttribute('aria-label', 'search for a regular expression');
	input.addEventListener('input', () => search(input.value));

	read();
	setFocused(frames[0]);
	recall();
	svg.setAttribute('role', 'application');
	details.setAttribute('aria-live', 'polite');
	graph.addEventListener('click', e => {
		const f = frameOf.get(e.target);
		if (f) {
			moveTo(f);
			zoom(f);
		}
	});
	graph.addEventListener('mouseover', e => show(frameOf.get(e.target)));
	graph.addEventListener('mouseout', () => show(null));
	// not of the graph: Chromium has what listens for this among what Tab reaches
	document.addEventListener('focusin', e => show(frameOf.get(e.target) || shown));
	svg.addEventListener('keydown', onKey);
	window.addEventListener('hashchange', recall);
}
