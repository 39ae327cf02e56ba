package oauth

import (
	"net/http"
	"time"
)

// ApprovePath is the path of the page on which the owner answers a question. Like
// [AuthorizePath] it is for browsers, and scripts of other origins must not reach it.
const ApprovePath = "/approve"

// noQuestion is the refusal for a question that is gone or never was. It is one for
// both, so that a stranger who tries ids cannot tell them apart.
var noQuestion = &refusal{status: http.StatusNotFound, code: "invalid_request", perhaps: true,
	text: "There is no such question: it was answered, is older than ten minutes, or the position has changed since and the app has a newer address. An order that was approved may have been placed. If it was not, have the app ask again."}

// approvePage shows the question that the query names.
func (s *Server) approvePage(w http.ResponseWriter, r *http.Request) {
	p, ok := s.pageQuery(w, r)
	if !ok {
		return
	}
	s.showQuestion(w, r, p.get("id"), notice{status: http.StatusOK})
}

// showQuestion shows the form of a question and ties it to this browser. If the owner has
// said yes before, the page says so, and the form can only take that back.
func (s *Server) showQuestion(w http.ResponseWriter, r *http.Request, id string, n notice) {
	lines, approved, ok := s.options.Questions.Question(id)
	if !ok {
		s.refuseHere(w, r, noQuestion)
		return
	}
	(&refusal{wait: n.wait}).head(w.Header())
	browser := newSecret()
	s.setCookie(w, ApprovePath, s.answerCookie(), browser, formLife)
	if s.owner == nil { // a yes must be one that no program on this machine can give
		n.text = "To answer, open the owner's page, " + s.base + s.options.OwnPage + ", in the browser that is logged in there."
		if s.options.OwnPage == "" {
			n.text = "Here nobody can answer: start wick with a passphrase (--passphrase-file), or without --no-app."
		}
	}
	show(w, n.status, page{
		Title: when(!approved, "Place this order?") + when(approved, "Approved"), Server: s.base, Notice: n.text, Question: lines, Approved: approved,
		Passphrase: s.owner != nil, PassphraseFrom: s.options.PassphraseFrom, WrongWord: n.wrongWord,
		Request: s.seal(forAnswer, packTime(time.Now().Add(formLife)), browser, id),
	})
}

// answerCookie returns the name of the cookie that ties a question's form to a browser.
// All questions share it, so only the page that was opened last can be answered.
func (s *Server) answerCookie() string { return s.hostCookie("wick-answer") }

// approve takes the owner's answer. It counts only on a form of ours, from the browser
// that the form was shown in, posted by the form's own page, and a yes only with the
// passphrase if there is one.
func (s *Server) approve(w http.ResponseWriter, r *http.Request) {
	form, ok := s.pageForm(w, r, "This answer was not taken. To answer, open the address that the app gave.")
	if !ok {
		return
	}
	// The form holds, in this order: when it ends, the browser it was shown in and the
	// id of the question.
	texts, _ := s.open(forAnswer, form.get("request"))
	if len(texts) != 3 {
		s.refuseHere(w, r, noQuestion)
		return
	}
	id := texts[2]
	if n := s.judgeAnswer(r, form, texts[0], texts[1]); n != nil {
		s.showQuestion(w, r, id, *n)
		return
	}
	yes := form.get("decision") == "allow"
	if err := s.options.Questions.Answer(r.Context(), id, yes, s.ClientIP(r).String()); err != nil {
		s.log.Warn("an answer does not count", "yes", yes, "error", err, "from", s.ClientIP(r))
		s.showQuestion(w, r, id, notice{status: http.StatusConflict}) // approved before, or gone
		return
	}
	s.setCookie(w, ApprovePath, s.answerCookie(), "", -time.Second) // it has served
	follows := page{Title: "Not placed", Server: s.base, Done: "The app is told so when it asks again, within ten minutes. You can close this page."}
	if yes {
		follows.Title, follows.Done = "Approved", "Tell the app to place the order again, within ten minutes. You can close this page."
	}
	show(w, http.StatusOK, follows)
}

// judgeAnswer returns nil if an answer counts, else what to say when the page is shown
// again.
func (s *Server) judgeAnswer(r *http.Request, form params, endsAt, browser string) *notice {
	ends, ok := unpackTime(endsAt)
	switch decision := form.get("decision"); {
	case decision == "allow" && s.owner == nil:
		return &notice{status: http.StatusForbidden}
	case !ok || !hasCookie(r, s.answerCookie(), browser) || !time.Now().Before(ends):
		return &notice{status: http.StatusBadRequest, text: "This page was open for too long, or in another tab, or your browser keeps no cookies. This answer was not taken: please answer again."}
	case decision == "allow":
		return s.checkPassphrase(r, "owner", form.get("passphrase"))
	case decision != "deny":
		return &notice{status: http.StatusBadRequest, text: "Please choose one of the two."}
	}
	return nil
}
