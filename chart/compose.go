package chart

import "strings"

// composed has an entry for each accent that Unicode writes after its letter. The entry is
// a list of pairs: a letter, and the single letter that Unicode has for the two together,
// if that is drawable.
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

// compose returns s with each letter and the accent after it replaced by one letter, if
// that is drawable. Some systems write the two separately, and the fonts have no separate
// accents.
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
