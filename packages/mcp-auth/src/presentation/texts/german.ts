/** The pages in German. What a vendor's entry or an error says to clients stays English, and is marked so. */
import type { ErrorTexts } from "@oauth-broker/service/http";
import { html } from "@oauth-broker/service/page";
import type { PageTexts } from "./english.ts";

const ADD_AGAIN =
  "Ein neuer Versuch allein hilft nicht. Wenn Sie diesen Server in der Anwendung hinzugefügt haben, entfernen Sie ihn dort und fügen Sie ihn erneut hinzu, damit sich die Anwendung neu anmeldet. Sonst wenden Sie sich an die Betreiber der Anwendung.";

const ERRORS: ErrorTexts = {
  unfinished: "Die Anmeldung wurde nicht abgeschlossen",
  titles: {
    404: "Diese Seite gibt es nicht",
    405: "Diese Seite lässt sich so nicht öffnen",
    500: "Bei uns ist ein Fehler aufgetreten",
    502: "Der Anbieter hat unerwartet geantwortet",
    503: "Zurzeit nicht verfügbar",
  },
  titlesByReason: {
    state_replayed: "Diese Anmeldung ist bereits abgeschlossen",
    request_uri_used: "Dieser Link wurde bereits verwendet",
    state_missing: "Diese Anmeldung hat nicht in einer Anwendung begonnen",
  },
  startAgain: "Schließen Sie diese Seite und beginnen Sie in der Anwendung, die Sie hierher geschickt hat, von vorn.",
  startAgainByReason: {
    state_missing:
      "Schließen Sie diese Seite, öffnen Sie die Anwendung, in der Sie den Anbieter verwenden möchten, und verbinden Sie ihn dort.",
  },
  insteadOfStartingAgain: {
    client_unknown: ADD_AGAIN,
    invalid_redirect_uri: ADD_AGAIN,
    redirect_uri: ADD_AGAIN,
    client_host_not_listed:
      "Ein neuer Versuch hilft nicht. Bitten Sie die Betreiber dieses Servers, Anwendungen dieses Hosts zuzulassen.",
    client_metadata_document:
      "Warten Sie eine Minute, bevor Sie in der Anwendung von vorn beginnen. Wenn diese Seite wieder erscheint, wenden Sie sich an die Betreiber der Anwendung.",
    foreign_form:
      "Eine andere Website hat dieses Formular gesendet; es ist nichts geschehen. Schließen Sie diese Seite.",
    foreign_host: "Ein neuer Versuch hilft nicht: Wenden Sie sich an die Betreiber dieses Servers.",
    foreign_origin: "Ein neuer Versuch hilft nicht: Wenden Sie sich an die Betreiber dieses Servers.",
    slow_down: "Es ist nichts verloren. Warten Sie eine Minute und laden Sie diese Seite dann neu.",
  },
  ifItComesBack:
    "Wenn diese Seite wieder erscheint, wenden Sie sich mit den unten stehenden Angaben an die Betreiber der Anwendung.",
  nothingLost: "Es ist nichts verloren. Warten Sie einen Moment und laden Sie diese Seite dann neu.",
  error: "Fehler",
  flow: "Vorgang",
  reference: "Referenz",
};

const NOTHING_CONNECTED = "Es wurde nichts verbunden";

export const GERMAN: PageTexts = {
  language: "de",
  direction: "ltr",
  errors: ERRORS,
  prefetched: { title: "Noch nicht geöffnet", text: "Öffnen Sie diese Seite selbst." },
  footer: { website: "Website", privacy: "Datenschutz", terms: "Nutzungsbedingungen" },

  home: {
    whatItIs: (address) =>
      html`<p>Dies ist ein MCP-Server: ein Programm, das Assistenten und Agenten verwenden, keine Website. Um ihn zu verwenden, fügen Sie in Ihrer Anwendung ${address ?? html`<code>/mcp</code> an dieser Adresse`} als Server hinzu.</p>`,
    forClients: (name) => `${name} ist für MCP-Clients`,
    signInElsewhere: "Die Anwendung schickt Sie zum Anmelden hierher. Auf dieser Seite können Sie sich nicht anmelden.",
    platformOnly: "Eine Plattform verwendet diesen Server für Sie. Hier können Sie sich nicht anmelden.",
  },

  labels: {
    application: "Anwendung",
    knownBy: "Bekannt durch",
    leadsBackTo: "Führt zurück zu",
    vendor: "Anbieter",
    permissions: "Berechtigungen",
    permissionsAt: (vendor) => `Berechtigungen bei ${vendor}`,
    connectedNow: "Zurzeit verbunden",
    state: "Status",
    account: "Konto",
    since: "Seit",
  },
  unnamedApplication: "Eine Anwendung ohne Namen",
  knownBy: {
    configuration: "den Betreiber dieses Servers",
    metadataDocument: (host) => `ihre eigene Beschreibung bei ${host}`,
    registration: "ihre eigene Anmeldung, die nicht geprüft ist",
  },

  consent: {
    title: (asking, vendors) => `Darf ${asking} ${accounts(vendors)} verwenden?`,
    asks: (asking, vendors, serverHost) =>
      html`${asking} möchte ${accounts(vendors)} über <strong>${serverHost}</strong> verwenden.`,
    hosts: (documentHost, redirectHost) =>
      html`<p>Eine Anwendung bei <strong>${documentHost}</strong> fragt; die Antwort geht an <strong>${redirectHost}</strong>.</p>`,
    onlyIf: "Fahren Sie nur fort, wenn Sie von dieser Anwendung kommen und das möchten.",
    onThisComputer: (choseItsName) =>
      `Die Antwort geht an ein Programm auf diesem Computer.${choseItsName ? " Es hat diesen Namen selbst gewählt." : ""} Fahren Sie nur fort, wenn Sie gerade eines gestartet haben.`,
    choseItsName:
      "Die Anwendung hat diesen Namen selbst gewählt. Fahren Sie nur fort, wenn Sie von der Adresse kommen, zu der sie zurückführt, und das möchten.",
    identityOnly: "wer Sie sind",
    grantedThere: "wie Sie sie dort erteilen",
    linkedLater: (vendor) =>
      `Sie melden sich jetzt bei ${vendor} an. Ihre Konten bei den anderen Anbietern werden später verbunden: Sie werden gefragt, sobald die Anwendung ein Konto zum ersten Mal braucht.`,
    continueTo: (vendor) => `Weiter zu ${vendor}`,
    cancel: "Abbrechen",
    askedAgain: "Sie werden erneut gefragt, wenn sich wieder eine Anwendung verbinden möchte.",
  },

  connect: {
    title: (vendor) => `${vendor} verbinden?`,
    asks: (asking, vendor, serverHost) =>
      html`<p>${asking} möchte Ihr Konto bei ${vendor} über <strong>${serverHost}</strong> verwenden. Fahren Sie nur fort, wenn Sie diese Anwendung verwenden und das möchten.</p>`,
    notYou: "Nicht Ihr Konto?",
    anotherAccount: "Anderes Konto verwenden",
    foreignTitle: "Dieser Link ist für ein anderes Konto",
    foreign:
      "Dieser Link ist nicht für dieses Konto. Wenn ein anderes Ihrer Konten ihn angefordert hat, melden Sie sich mit jenem an.",
    goneTitle: "Dieser Link funktioniert nicht mehr",
    gone: "Er wurde verwendet, ist abgelaufen, oder die Anwendung, die ihn geschickt hat, ist abgemeldet. Gehen Sie zurück zur Anwendung: Sie gibt Ihnen einen neuen Link, wenn sie einen braucht.",
  },

  connections: {
    link: "Ihre Verbindungen",
    refused: "Das war nicht möglich",
    title: (serverHost) => `Ihre Verbindungen bei ${serverHost}`,
    signedIn: (account, vendor) => html`<p>Sie sind angemeldet als <strong>${account}</strong> (${vendor}).</p>`,
    askedAgainAbout: (day) => `Sie werden etwa am ${day} gebeten, das Konto erneut zu verbinden.`,
    linked: (vendor) =>
      `${vendor} ist verbunden. Sie können diese Seite schließen und zu Ihrer Anwendung zurückkehren.`,
    yourAccount: "Ihr Konto hier",
    signOut: "Abmelden",
    signedOutTitle: "Sie sind abgemeldet",
    signedOut: "Sie sind in diesem Browser abgemeldet. Ihre Verbindungen bleiben, wie sie sind.",
    signInTitle: (serverHost) => `Melden Sie sich an, um Ihre Verbindungen bei ${serverHost} zu sehen`,
    signInMeans: (vendor, serverHost) =>
      html`<p>Ihre Verbindungen sehen nur Sie, deshalb muss <strong>${serverHost}</strong> wissen, wer Sie sind. Sie melden sich bei <strong>${vendor}</strong> an; ${vendor} nennt diesem Server Ihr Konto und führt Sie hierher zurück. Dabei wird nichts verbunden: Kein Token dieser Anmeldung wird behalten.</p>`,
    states: {
      usable: "Verbunden",
      dead: "Vom Anbieter beendet: bitte neu verbinden",
      missing: "Nicht verbunden",
      unreadable: "Nicht lesbar: bitte neu verbinden",
    },
    connect: (vendor) => `${vendor} verbinden`,
    reconnect: (vendor) => `${vendor} neu verbinden`,
    disconnect: (vendor) => `${vendor} trennen`,
    disconnectMeans: (vendor, serverHost) =>
      `${serverHost} löscht seine Token für ${vendor} und widerruft sie dort, soweit ${vendor} das erlaubt. Danach erreicht keine Anwendung über ${serverHost} Ihr Konto bei ${vendor}, bis Sie es wieder verbinden.`,
    confirmDisconnect: (vendor) => `Ja, ${vendor} trennen`,
    disconnected: (vendor) => `${vendor} ist getrennt.`,
    atVendor: {
      token: (vendor) => `Die Token sind hier gelöscht, und ${vendor} hat sie widerrufen.`,
      grant: (vendor) =>
        `Die Token sind hier gelöscht, und ${vendor} hat sie mit allem, was Sie erlaubt hatten, widerrufen.`,
      already: (vendor) => `Die Token sind hier gelöscht; ${vendor} hatte sie schon vorher beendet.`,
      unsupported: (vendor) => `Die Token sind hier gelöscht, aber ${vendor} lässt sie von hier aus nicht widerrufen.`,
      failed: (vendor) => `Die Token sind hier gelöscht, aber ${vendor} hat sie auf unsere Bitte nicht widerrufen.`,
      nothing: (vendor) =>
        `Was hier gespeichert war, ist gelöscht. Es war nicht lesbar, deshalb wurde ${vendor} nicht um den Widerruf gebeten.`,
    },
    endByHand: (help) =>
      help === undefined
        ? html`<p>Um zu beenden, was dort noch übrig sein kann: Öffnen Sie dort Ihre Kontoeinstellungen, suchen Sie nach verbundenen oder autorisierten Apps und entfernen Sie diese.</p>`
        : html`<p>Um zu beenden, was dort noch übrig sein kann: <span lang="en">${help}</span>.</p>`,
    othersStay: "Ihre Anwendungen bleiben angemeldet, und Ihre anderen Verbindungen bleiben, wie sie sind.",
    anotherAccount: "ein anderes Konto",
    connectedAccount: "Das verbundene Konto",
    replaces: (before, fresh) =>
      html`<p><strong>${before}</strong> wird durch <strong>${fresh}</strong> ersetzt. Möchten Sie das?</p>`,
    loses: (vendor, scopes) =>
      html`<p>${vendor} hat weniger erlaubt als zuvor. Wenn Sie die Verbindung ersetzen, geht verloren: <strong>${scopes}</strong>. Möchten Sie das?</p>`,
    replace: "Ja, ersetzen",
    keep: "Nein, behalten, was ich habe",
    errors: {
      access_denied: `Sie haben abgebrochen. ${NOTHING_CONNECTED}.`,
      organization_refused: `Eine Administratorin oder ein Administrator Ihrer Organisation muss dies erst beim Anbieter erlauben. ${NOTHING_CONNECTED}.`,
      other_account: `Sie haben ein anderes Konto gewählt als das, mit dem Sie angemeldet sind. ${NOTHING_CONNECTED}.`,
      link_changed:
        "Diese Verbindung hat sich geändert, seit die Seite angezeigt wurde. Es wurde nichts getan: Sehen Sie unten nach und versuchen Sie es noch einmal.",
      ticket_ended: `Die Anwendung wartet nicht mehr darauf. ${NOTHING_CONNECTED}.`,
      vendor_error: `Der Anbieter hat unerwartet geantwortet. ${NOTHING_CONNECTED}: Versuchen Sie es noch einmal.`,
      temporarily_unavailable: `Das ließ sich jetzt nicht abschließen. ${NOTHING_CONNECTED}: Versuchen Sie es gleich noch einmal.`,
    },
  },
};

function accounts(vendors: readonly string[]): string {
  const last = vendors.at(-1) ?? "";
  return vendors.length === 1
    ? `Ihr Konto bei ${last}`
    : `Ihre Konten bei ${vendors.slice(0, -1).join(", ")} und ${last}`;
}
