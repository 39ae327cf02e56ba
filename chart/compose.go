package chart

import "strings"

// composed has for each accent that follows its letter the letters that it is drawn
// with, each before the one letter that the two are: those that are drawable, as Unicode
// composes them.
var composed = map[rune]string{
	'\u0300': "AÀEÈIÌOÒUÙaàeèiìoòuùЕЀИЍеѐиѝWẀwẁYỲyỳÜǛüǜ",
	'\u0301': "AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzź¨΅ΑΆΕΈΗΉΙΊΟΌΥΎΩΏϊΐαάεέηήιίϋΰοόυύωώГЃКЌгѓкќWẂwẃÅǺåǻÆǼæǽØǾøǿÜǗüǘ",
	'\u0302': "AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷ",
	'\u0303': "AÃNÑOÕaãnñoõIĨiĩUŨuũ",
	'\u0304': "AĀaāEĒeēIĪiīOŌoōUŪuūÜǕüǖ",
	'\u0306': "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭУЎИЙийуў",
	'\u0307': "CĊcċEĖeėGĠgġIİZŻzż",
	'\u0308': "AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸΙΪΥΫιϊυϋЕЁІЇеёіїWẄwẅ",
	'\u030a': "AÅaåUŮuů",
	'\u030b': "OŐoőUŰuű",
	'\u030c': "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔÜǙüǚ",
	'\u0326': "SȘsșTȚtț",
	'\u0327': "CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţ",
	'\u0328': "AĄaąEĘeęIĮiįUŲuų",
}

// compose returns s with every letter and the accent after it as one letter, where that
// is drawable: some systems write them as two, and the fonts have no accents alone.
func compose(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return composed[r] != "" }) {
		return s
	}
	var out []rune
	for _, r := range s {
		pairs, last := []rune(composed[r]), len(out)-1
		for i := 0; i < len(pairs) && last >= 0; i += 2 {
			if pairs[i] == out[last] {
				out[last], r = pairs[i+1], -1
				break
			}
		}
		if r >= 0 {
			out = append(out, r)
		}
	}
	return string(out)
}
